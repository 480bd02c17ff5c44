//! What a name leads to.

use crate::error::WriteObstacle;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// As many links as Linux follows in one name.
const LINKS: usize = 40;

/// What is to be written.
#[derive(Debug)]
pub(crate) enum Destination {
    /// A regular file that can be replaced, or a name that is free.
    Regular(PathBuf, Option<Metadata>),
    /// Something that keeps its identity: a device, a terminal, a file that another process has open.
    InPlace(PathBuf),
    /// A named pipe.
    Pipe(PathBuf),
    /// A file that this process has open, by its number: `/dev/stdout`, `/dev/fd/3`.
    Open(File),
}

/// Follows the links of a name. Also links whose end does not exist yet are followed, so that the link stays
/// and the file comes to be where it points to.
pub(crate) fn find(file: &Path) -> Result<Destination, WriteObstacle> {
    let mut path = file.to_path_buf();
    for _ in 0..LINKS {
        if let Some(number) = own_descriptor(&path) {
            return duplicate(number);
        }
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return free(path),
            Err(e) => return Err(e.into()),
        };
        if metadata.is_symlink() && !is_of_processes(&path) {
            path = directory_of(&path).join(path.read_link()?);
            continue;
        }
        // A link of /proc leads to an open file whatever name it shows.
        let leads_to_open_file = metadata.is_symlink();
        return by_kind(path.clone(), path.metadata()?, leads_to_open_file);
    }
    Err(WriteObstacle::LinkCircle)
}

fn free(path: PathBuf) -> Result<Destination, WriteObstacle> {
    match directory_of(&path) {
        directory if directory.is_dir() => Ok(Destination::Regular(path, None)),
        directory => Err(WriteObstacle::NoDirectory(directory.into())),
    }
}

fn by_kind(
    path: PathBuf,
    metadata: Metadata,
    leads_to_open_file: bool,
) -> Result<Destination, WriteObstacle> {
    let kind = metadata.file_type();
    if kind.is_dir() {
        Err(WriteObstacle::IsDirectory)
    } else if kind.is_socket() {
        Err(WriteObstacle::IsSocket)
    } else if kind.is_fifo() {
        Ok(Destination::Pipe(path))
    } else if kind.is_file() && !leads_to_open_file {
        Ok(Destination::Regular(path, Some(metadata)))
    } else {
        Ok(Destination::InPlace(path))
    }
}

/// The directory of a file: `.` for a bare name.
pub(crate) fn directory_of(file: &Path) -> &Path {
    file.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn is_of_processes(path: &Path) -> bool {
    directory_of(path).canonicalize().is_ok_and(|directory| {
        let mut names = directory.components().skip(1).map(|name| name.as_os_str());
        names.next().is_some_and(|name| name == "proc") && names.last().is_some_and(|name| name == "fd")
    })
}

/// The number of one of this process's open files, if the path names it.
fn own_descriptor(path: &Path) -> Option<RawFd> {
    let directory = directory_of(path).canonicalize().ok()?;
    let own = [Path::new("/proc/self/fd"), Path::new("/proc/thread-self/fd")]
        .iter()
        .any(|own| own.canonicalize().is_ok_and(|own| own == directory));
    path.file_name().filter(|_| own)?.to_str()?.parse().ok()
}

fn duplicate(number: RawFd) -> Result<Destination, WriteObstacle> {
    // SAFETY: asks about a number only; what it does not name is an error.
    if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
        return Err(io::Error::last_os_error().into());
    }
    // SAFETY: the number is that of an open file, as the line above has found.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(Destination::Open(borrowed.try_clone_to_owned()?.into()))
}
