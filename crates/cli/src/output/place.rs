//! Where names of files lead, so that a command can tell that two of them are one file.

use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// As many links as Linux follows in one name.
const LINKS: usize = 40;

/// What a name leads to. Two names of one file or directory have equal places, whatever links lead there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A regular file or a directory that exists, by device and inode: hard links are one file, too.
    There(u64, u64),
    /// Nothing yet: the name that it would have.
    Free(PathBuf),
}

impl Place {
    /// None for what may be written by several at a time, or is not kept: devices, terminals, pipes, and open
    /// files such as `/dev/stdout`. Also for what cannot be looked at.
    pub fn of(name: &Path) -> Option<Place> {
        let mut path = std::path::absolute(name).ok()?;
        for _ in 0..LINKS {
            let Ok(metadata) = path.symlink_metadata() else { return free(&path) };
            if !metadata.is_symlink() {
                return there(&metadata);
            }
            // A link that leads to nothing yet is followed, as it is when the file is written.
            let directory = path.parent()?.canonicalize().ok()?;
            if directory.starts_with("/proc") {
                return None;
            }
            path = directory.join(path.read_link().ok()?);
        }
        None
    }
}

fn there(metadata: &Metadata) -> Option<Place> {
    let is_kept = metadata.is_file() || metadata.is_dir();
    is_kept.then(|| Place::There(metadata.dev(), metadata.ino()))
}

/// The real path of the last directory above that exists, and the names behind it.
fn free(path: &Path) -> Option<Place> {
    let mut missing: Vec<OsString> = Vec::new();
    for above in path.ancestors() {
        if let Ok(mut real) = above.canonicalize() {
            for name in missing.iter().rev() {
                match Path::new(name).components().next() {
                    Some(Component::ParentDir) => _ = real.pop(),
                    _ => real.push(name),
                }
            }
            return Some(Place::Free(real));
        }
        // `file_name` is none for `..`, which is the only other last part of an absolute path.
        missing.push(above.file_name().map_or_else(|| OsString::from(".."), OsString::from));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn all_names_of_one_file_have_one_place() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        std::fs::write(at("other"), "").unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        symlink("../file", at("sub/link")).unwrap();
        symlink(folder.path(), at("self")).unwrap();
        std::fs::hard_link(at("file"), at("hard")).unwrap();
        for name in ["sub/../file", "./file", "sub/link", "self/self/file", "hard"] {
            assert_eq!(Place::of(&at(name)), Place::of(&at("file")), "{name}");
        }
        assert_ne!(Place::of(&at("other")), Place::of(&at("file")));
        assert_eq!(Place::of(&at("sub/.")), Place::of(&at("sub")));
    }

    #[test]
    fn files_that_do_not_exist_yet_have_places() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink(folder.path(), at("self")).unwrap();
        symlink("new", at("ahead")).unwrap();
        for name in ["self/new", "./new", "ahead", "gone/../new"] {
            assert_eq!(Place::of(&at(name)), Place::of(&at("new")), "{name}");
        }
        assert_eq!(Place::of(&at("self/no/such/file")), Place::of(&at("no/such/file")));
        assert_ne!(Place::of(&at("new")), Place::of(&at("newer")));
    }

    #[test]
    fn devices_pipes_and_open_files_have_no_place() {
        let folder = tempfile::tempdir().unwrap();
        symlink("/dev/stdout", folder.path().join("out")).unwrap();
        symlink("circle", folder.path().join("circle")).unwrap();
        for name in ["/dev/null", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            assert_eq!(Place::of(Path::new(name)), None, "{name}");
        }
        for name in ["out", "circle"] {
            assert_eq!(Place::of(&folder.path().join(name)), None, "{name}");
        }
    }
}
