//! Writing.

use crate::destination::{Destination, find};
use crate::error::{OutputError, WriteObstacle};
use crate::quiet_pipe::without_sigpipe;
use crate::replacement::{Replacement, close};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Writes a file: a regular one whole or not at all, anything else in place.
///
/// A regular file that has several names, whose owner cannot be kept, that something is mounted on, or in
/// whose directory no file can be made is written in place too.
///
/// # Errors
///
/// The error names the file, what was in the way, and what to do. A regular file that was replaced whole has
/// its old content then.
pub fn write(file: &Path, content: &[u8]) -> Result<(), OutputError> {
    let written = find(file).and_then(|destination| without_sigpipe(|| write_to(destination, content)));
    written.map_err(|obstacle| OutputError { path: file.into(), obstacle })
}

fn write_to(destination: Destination, content: &[u8]) -> Result<(), WriteObstacle> {
    match destination {
        Destination::Regular(target, there) => replace(&target, there.as_ref(), content),
        Destination::InPlace(target) => finish(OpenOptions::new().append(true).open(target)?, content),
        Destination::Pipe(target) => finish(open_pipe(&target)?, content),
        Destination::Open(file) => finish(file, content),
    }
}

/// Opens a pipe that has a reader. Without one an open would wait, perhaps for ever.
fn open_pipe(target: &Path) -> Result<File, WriteObstacle> {
    let opened = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(target);
    let pipe = opened.map_err(|e| match e.raw_os_error() {
        Some(libc::ENXIO) => WriteObstacle::NoReader,
        _ => WriteObstacle::from(e),
    })?;
    // SAFETY: changes a flag of a file that is ours. What is written then waits for its reader.
    match unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, 0) } {
        0 => Ok(pipe),
        _ => Err(io::Error::last_os_error().into()),
    }
}

fn replace(target: &Path, there: Option<&Metadata>, content: &[u8]) -> Result<(), WriteObstacle> {
    let in_place = || -> Result<(), WriteObstacle> {
        finish(OpenOptions::new().write(true).create(true).truncate(true).open(target)?, content)
    };
    if there.is_some() {
        // A file that may not be written must not be replaced either.
        OpenOptions::new().write(true).open(target)?;
    }
    if there.is_some_and(|there| there.nlink() > 1) {
        return in_place();
    }
    let Ok((replacement, file)) = Replacement::create(target, there) else { return in_place() };
    finish(file, content)?;
    match replacement.take_place(target) {
        Err(e) if e.raw_os_error() == Some(libc::EBUSY) => in_place(),
        taken => Ok(taken?),
    }
}

fn finish(mut file: File, content: &[u8]) -> Result<(), WriteObstacle> {
    file.write_all(content)?;
    Ok(close(file)?)
}
