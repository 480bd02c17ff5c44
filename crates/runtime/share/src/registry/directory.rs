//! Where the file lies; its lock; reading and replacing it.

use super::record::Record;
use crate::error::ShareError;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::process::geteuid;
use std::fs::{DirBuilder, File, Metadata};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The largest file that is read, bytes.
const LARGEST: u64 = 4 << 20;

/// The directory of the registry.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
}

/// The lock on it, until it is dropped or this process ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Directory {
    /// The directory of this user: in `runtime_directory` (XDG_RUNTIME_DIR) if that is theirs, else in
    /// /dev/shm. Processes that do not see each other's numbers have directories of their own.
    ///
    /// # Errors
    ///
    /// If somebody else could write there.
    pub fn of_this_user(runtime_directory: Option<&Path>) -> Result<Directory, ShareError> {
        let path = Directory::place(runtime_directory);
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(ShareError::System { what: format!("mkdir {}", path.display()), why: error });
            }
            _ => {}
        }
        Directory::checked(path)
    }

    /// The same if it exists; None if no job of this user has ever taken turns here.
    ///
    /// # Errors
    ///
    /// If somebody else could write there.
    pub fn existing(runtime_directory: Option<&Path>) -> Result<Option<Directory>, ShareError> {
        let path = Directory::place(runtime_directory);
        if path.symlink_metadata().is_err() { Ok(None) } else { Directory::checked(path).map(Some) }
    }

    fn place(runtime_directory: Option<&Path>) -> PathBuf {
        let is_ours = |path: &&Path| {
            path.is_absolute() && path.symlink_metadata().is_ok_and(|found| refusal(&found, true).is_none())
        };
        let base = runtime_directory.filter(is_ours).unwrap_or(Path::new("/dev/shm"));
        let namespace = Path::new("/proc/self/ns/pid").metadata().map_or(0, |found| found.ino());
        base.join(format!("evenkeel-share-{}-{namespace}", geteuid().as_raw()))
    }

    fn checked(path: PathBuf) -> Result<Directory, ShareError> {
        let found = path.symlink_metadata().map_err(ShareError::system(path.display().to_string()))?;
        match refusal(&found, true) {
            Some(why) => Err(ShareError::Foreign { path, why }),
            None => Ok(Directory { path }),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self) -> PathBuf {
        self.path.join("jobs.json")
    }

    fn lock_file(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// Takes the lock; waits for it so long.
    pub(crate) fn lock(&self, patience: Duration) -> Result<Lock, ShareError> {
        let begun = Instant::now();
        loop {
            if let Some(lock) = self.try_lock()? {
                return Ok(lock);
            }
            if begun.elapsed() > patience {
                return Err(ShareError::Locked { path: self.lock_file(), seconds: patience.as_secs() });
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Takes the lock if it is free.
    pub(crate) fn try_lock(&self) -> Result<Option<Lock>, ShareError> {
        let path = self.lock_file();
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = open(&path, flags, Mode::RUSR | Mode::WUSR);
        let file = File::from(opened.map_err(ShareError::system(path.display().to_string()))?);
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(None),
            Err(why) => Err(ShareError::System { what: "flock".into(), why: why.into() }),
        }
    }

    /// What stands there. An absent file is an empty list.
    ///
    /// # Errors
    ///
    /// If it belongs to somebody else, or holds something else.
    pub fn read(&self) -> Result<Record, ShareError> {
        let path = self.file();
        let opened = open(
            &path,
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK,
            Mode::empty(),
        );
        let mut file = match opened {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::NOENT) => return Ok(Record::default()),
            Err(rustix::io::Errno::LOOP) => {
                return Err(ShareError::Foreign { path, why: "is a symbolic link".into() });
            }
            Err(why) => return Err(ShareError::System { what: path.display().to_string(), why: why.into() }),
        };
        let found = file.metadata().map_err(ShareError::system(path.display().to_string()))?;
        if let Some(why) = refusal(&found, false) {
            return Err(ShareError::Foreign { path, why });
        }
        let mut text = String::new();
        if found.len() > LARGEST {
            return Err(ShareError::Damaged { path, why: format!("it has {} bytes", found.len()) });
        }
        if let Err(why) = file.read_to_string(&mut text) {
            return Err(ShareError::Damaged { path, why: why.to_string() });
        }
        Record::parse(&text).map_err(|why| ShareError::Damaged { path, why })
    }

    /// Replaces it. The lock must be held.
    pub(crate) fn write(&self, _lock: &Lock, record: &Record) -> Result<(), ShareError> {
        let temporary = self.path.join("jobs.new");
        let what = || temporary.display().to_string();
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = open(&temporary, flags, Mode::RUSR | Mode::WUSR).map_err(ShareError::system(what()))?;
        let mut file = File::from(opened);
        file.write_all(record.text().as_bytes()).map_err(ShareError::system(what()))?;
        std::fs::rename(&temporary, self.file()).map_err(ShareError::system(what()))
    }
}

/// Why a directory or file is not to be trusted.
fn refusal(found: &Metadata, is_directory: bool) -> Option<String> {
    let me = geteuid().as_raw();
    if found.is_dir() != is_directory || (!is_directory && !found.is_file()) {
        return Some(if is_directory { "is no directory" } else { "is no regular file" }.into());
    }
    if found.uid() != me {
        return Some(format!("belongs to user {}, not to user {me}", found.uid()));
    }
    let mode = found.mode() & 0o777;
    (mode & 0o022 != 0).then(|| format!("can be written by others (mode {mode:o})"))
}
