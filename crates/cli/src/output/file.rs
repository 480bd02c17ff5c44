//! Files that commands write on request: whole or not at all.

use crate::errors::FileError;
use serde::Serialize;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Writes a file. A reader sees the old content or the new one, never a part, also if evenkeel is killed or
/// the disk is full.
///
/// Anything but a regular file (a terminal, a pipe), and a file in a directory in which none can be created,
/// is written in place.
pub fn write(file: &Path, text: &str) -> Result<(), FileError> {
    let unwritable = |e: std::io::Error| FileError::NotWritable { path: file.into(), why: e.to_string() };
    // A link stays a link: the file that it leads to is replaced.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let existing = target.metadata().ok();
    if existing.as_ref().is_some_and(|there| !there.is_file()) {
        return std::fs::write(&target, text).map_err(unwritable);
    }
    let permissions = existing.map_or_else(|| Permissions::from_mode(0o666), |there| there.permissions());
    let beside = tempfile::Builder::new()
        .prefix(".evenkeel-")
        .permissions(permissions)
        .tempfile_in(directory_of(&target));
    match beside {
        Err(_) => std::fs::write(&target, text).map_err(unwritable),
        Ok(mut beside) => {
            beside.write_all(text.as_bytes()).map_err(unwritable)?;
            beside.persist(&target).map(drop).map_err(|e| unwritable(e.error))
        }
    }
}

/// Writes a value as JSON for people and programs: indented, with a line break at the end.
pub fn write_json(file: &Path, value: &impl Serialize) -> Result<(), FileError> {
    write(file, &(serde_json::to_string_pretty(value).expect("records consist of plain data") + "\n"))
}

/// Makes a directory and those above it.
pub fn make_directory(directory: &Path) -> Result<(), FileError> {
    let unwritable =
        |e: std::io::Error| FileError::NotWritable { path: directory.into(), why: e.to_string() };
    std::fs::create_dir_all(directory).map_err(unwritable)
}

/// Refuses files that could not be written. To be called before work whose result would be lost.
pub fn check_writable<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), FileError> {
    files.into_iter().try_for_each(|file| {
        obstacle(file).map_or(Ok(()), |why| Err(FileError::NotWritable { path: file.clone(), why }))
    })
}

/// Why a file could not be written, as far as that can be known without writing it.
pub fn obstacle(file: &Path) -> Option<String> {
    let directory = directory_of(file);
    if file.is_dir() {
        return Some("it is a directory".into());
    }
    if !directory.is_dir() {
        return Some(format!("there is no directory {}", directory.display()));
    }
    let target = if file.exists() { file } else { directory };
    rustix::fs::access(target, rustix::fs::Access::WRITE_OK).err().map(|e| e.to_string())
}

/// The sentence about a page or a picture that was written.
pub fn written_for_browser(file: &Path) -> String {
    format!("{} written: open it in a browser.", file.display())
}

fn directory_of(file: &Path) -> &Path {
    file.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_permissions() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("record.json");
        write(&file, "old").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let reader = std::fs::File::open(&file).unwrap();
        write(&file, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(
            std::io::read_to_string(reader).unwrap(),
            "old",
            "a reader that had it open keeps the old content"
        );
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(directory.path().read_dir().unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_link_stays_a_link_and_a_device_a_device() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("there"), directory.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        assert!(link.is_symlink());
        write(Path::new("/dev/null"), "anything").unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(obstacle(&directory.path().join("new")), None);
        assert_eq!(obstacle(directory.path()).as_deref(), Some("it is a directory"));
        let missing = directory.path().join("no/such/file");
        assert!(obstacle(&missing).unwrap().contains("there is no directory"));
        assert!(check_writable([&missing]).unwrap_err().to_string().starts_with("cannot write "));
    }
}
