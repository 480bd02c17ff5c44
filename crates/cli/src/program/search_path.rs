//! Finds programs as a shell does.

use crate::errors::ProgramError;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The directories of PATH.
pub fn directories() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// Finds a program as execvp(3) does: a name with a slash is its path, any other is searched in `on_path`.
pub fn find(name: impl AsRef<OsStr>, on_path: &[PathBuf]) -> Result<PathBuf, ProgramError> {
    let name = name.as_ref();
    if name.as_bytes().contains(&b'/') {
        let file = PathBuf::from(name);
        return match file.metadata() {
            Err(_) => Err(ProgramError::NoSuchFile { path: file }),
            Ok(metadata) if metadata.is_dir() => Err(ProgramError::IsDirectory { path: file }),
            Ok(_) if !is_executable(&file) => Err(ProgramError::NotExecutable { path: file }),
            Ok(_) => Ok(file),
        };
    }
    on_path
        .iter()
        .map(|directory| directory.join(name))
        .find(|file| file.is_file() && is_executable(file))
        .ok_or_else(|| ProgramError::NotFound {
            program: name.to_string_lossy().into_owned(),
            searched: on_path.to_vec(),
        })
}

/// Whether this user may execute the file. For root, too, one execute permission must be set.
pub fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
        && path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// The last part of a path as text.
pub fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
