//! Why a file cannot be written, and what to do.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A file could not be written.
#[derive(Debug, Error)]
#[error("cannot write {}: {obstacle}", .path.display())]
pub struct OutputError {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// What was in the way, and what to do.
    pub obstacle: WriteObstacle,
}

/// What is in the way of writing a file. The sentence also says what to do.
#[derive(Debug, Error)]
pub enum WriteObstacle {
    /// The directory of the file is missing.
    #[error("there is no directory {}. Make it, or name a file in a directory that exists.", .0.display())]
    NoDirectory(PathBuf),

    /// The name is that of a directory.
    #[error("it is a directory. Name a file in it.")]
    IsDirectory,

    /// The name is that of a socket.
    #[error("it is a socket. Name a regular file, a pipe or a device.")]
    IsSocket,

    /// Permission is missing.
    #[error("{0}. Name a file in a directory that you may write to.")]
    Forbidden(io::Error),

    /// Links that lead in a circle.
    #[error("its symbolic links lead in a circle. Remove the link, or name another file.")]
    LinkCircle,

    /// The disk or the quota is used up.
    #[error("{0}. Make room, or name a file on another disk.")]
    NoRoom(io::Error),

    /// The reader of the pipe is gone, or has not come.
    #[error("nothing reads from this pipe. Start its reader first, and keep it until the run has ended.")]
    NoReader,

    /// Anything else that the system says.
    #[error("{0}. Name another file.")]
    Other(io::Error),
}

impl From<io::Error> for WriteObstacle {
    fn from(error: io::Error) -> WriteObstacle {
        match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM | libc::EROFS) => WriteObstacle::Forbidden(error),
            Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => WriteObstacle::NoRoom(error),
            Some(libc::EPIPE) => WriteObstacle::NoReader,
            Some(libc::EISDIR) => WriteObstacle::IsDirectory,
            Some(libc::ELOOP) => WriteObstacle::LinkCircle,
            _ => WriteObstacle::Other(error),
        }
    }
}
