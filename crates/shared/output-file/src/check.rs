//! What is in the way of a file, before any work is done.

use crate::destination::{Destination, directory_of, find};
use crate::error::{OutputError, WriteObstacle};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Why a file could not be written, as far as that can be known without writing it.
///
/// A pipe without a reader is no obstacle yet: the reader may still come.
pub fn obstacle(file: &Path) -> Option<OutputError> {
    let found = find(file).and_then(|destination| match &destination {
        Destination::Regular(target, None) => writable(directory_of(target)),
        Destination::Regular(target, Some(_)) | Destination::InPlace(target) | Destination::Pipe(target) => {
            writable(target)
        }
        Destination::Open(_) => Ok(()),
    });
    found.err().map(|obstacle| OutputError { path: file.into(), obstacle })
}

fn writable(path: &Path) -> Result<(), WriteObstacle> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from)?;
    // SAFETY: a terminated string. The effective ids count, as they do for open.
    match unsafe { libc::faccessat(libc::AT_FDCWD, name.as_ptr(), libc::W_OK, libc::AT_EACCESS) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error().into()),
    }
}
