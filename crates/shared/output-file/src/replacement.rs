//! The file that takes the place of another one.

use crate::destination::directory_of;
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A temporary file beside the one that it will replace. Removed unless it does.
pub(crate) struct Replacement {
    path: PathBuf,
    kept: bool,
}

impl Replacement {
    /// Makes it, with the permissions and the owner of the file that is there. An error means that the file
    /// can at most be written in place.
    pub(crate) fn create(target: &Path, there: Option<&Metadata>) -> io::Result<(Replacement, File)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = OsString::from(format!(".evenkeel-{}-{number}", std::process::id()));
        let path = directory_of(target).join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o666).open(&path)?;
        let replacement = Replacement { path, kept: false };
        if let Some(there) = there {
            let mine = file.metadata()?;
            if (mine.uid(), mine.gid()) != (there.uid(), there.gid()) {
                fchown(&file, Some(there.uid()), Some(there.gid()))?;
            }
            file.set_permissions(PermissionsExt::from_mode(there.mode() & 0o7777))?;
        }
        Ok((replacement, file))
    }

    /// Puts it in the place of the other file, in one step.
    pub(crate) fn take_place(mut self, target: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, target)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Closes a file. Some file systems say only then that there was no room.
pub(crate) fn close(file: File) -> io::Result<()> {
    // SAFETY: the number is this file's own, and is not used afterwards.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
