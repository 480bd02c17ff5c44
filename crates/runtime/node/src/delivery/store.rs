//! Where a host keeps files that it was sent: by their content, for later jobs, too.
//!
//! ```text
//! BASE/files/CONTENT           a file, named by the BLAKE3 hash of its content
//! BASE/jobs/NAME-BOOT-RANDOM/  the folder of one job, removed with it
//!     checked-N                file N, a hard link
//!     files/, libraries/       its files: programs and libraries are hard links, data are copies of its own
//!     lock                     locked as long as the job runs
//! ```
//!
//! `BASE` is `evenkeel` in the user's folder for caches, or else a folder of the user's own where temporary
//! files are. No other user can write to it or replace it, and programs may be run from it. Hosts may share
//! it: nothing is taken for left behind because a process is not seen here.

use crate::identity::to_hexadecimal;
use crate::sent_file::{ContentHash, SentAs, SentFile};
use rustix::fs::{Access, FlockOperation, access, flock};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files that no job has used for so long are removed.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);
/// A folder of a job without its lock is being made, unless it is older than this.
const MADE_WITHIN: Duration = Duration::from_secs(24 * 3600);
/// Programs and libraries are not to be changed: jobs share them.
const SHARED_MODE: u32 = 0o500;
const OWN_MODE: u32 = 0o700;
/// Others may write to a folder only if it is sticky, and root's.
const STICKY: u32 = 0o1000;
const OTHERS_WRITE: u32 = 0o022;
/// Names within the folder of a job.
const FILES: &str = "files";
const LIBRARIES: &str = "libraries";
const LOCK: &str = "lock";
/// How many digits the name of a content has.
const CONTENT_DIGITS: usize = 64;
/// How much of an arriving file the kernel may keep from the disk or the network behind it, bytes. Its end
/// would otherwise take so long that this node would be taken for lost.
const UNWRITTEN_BYTES: u64 = 8 << 20;
const WRITTEN_AT_ONCE: u64 = 1 << 20;

/// The files that this host keeps, and the folder of one job.
pub(super) struct Store {
    base: PathBuf,
    job: PathBuf,
    /// `base` is where temporary files are, which may be memory: nothing stays there.
    is_temporary: bool,
    /// Locked, and closed by the kernel if this process is killed.
    lock: Option<File>,
    used: Vec<String>,
}

/// A file that is being received.
pub(super) struct Arriving {
    file: File,
    pub path: PathBuf,
    hash: ContentHash,
}

impl Store {
    /// A store for the job of this name. `cache` and `temporary`: the user's folder for caches, and folders
    /// for temporary files, in this order of preference.
    ///
    /// # Errors
    /// A sentence, without the host's name, if there is no folder that can be used.
    pub fn open(name: &str, cache: Option<PathBuf>, temporary: &[PathBuf]) -> Result<Store, String> {
        let user = rustix::process::geteuid().as_raw();
        let cache = cache.map(|folder| (folder.join("evenkeel"), false));
        let own = temporary.iter().map(|folder| (folder.join(format!("evenkeel-{user}")), true));
        let mut refused = Vec::new();
        for (base, is_temporary) in cache.into_iter().chain(own) {
            match prepare(&base, is_temporary, name) {
                Ok(store) => {
                    let base = store.base.clone();
                    // Many files on a slow file system take long.
                    std::thread::spawn(move || tidy(&base));
                    return Ok(store);
                }
                Err(why) => refused.push(format!("{}: {why}", base.display())),
            }
        }
        Err(format!(
            "it has no folder for files that are sent there ({}). Set XDG_CACHE_HOME or TMPDIR to one",
            refused.join("; ")
        ))
    }

    fn kept_path(&self, content: &str) -> PathBuf {
        self.base.join("files").join(content)
    }

    /// A file of this number, under no name of its own yet.
    fn link(&self, number: usize) -> PathBuf {
        self.job.join(format!("checked-{number}"))
    }

    /// Links a kept file of this content and length into the job. Its content is to be checked there: another
    /// job may have removed or replaced the kept one by then.
    pub fn link_kept(&mut self, number: usize, sent: &SentFile) -> Option<PathBuf> {
        let link = self.link(number);
        fs::hard_link(self.kept_path(&sent.content), &link).ok()?;
        self.used.push(sent.content.clone());
        let file = File::open(&link).ok()?;
        let is_whole =
            file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == sent.bytes);
        // It is used, and stays; jobs may have changed its mode.
        let is_usable = file.set_permissions(Permissions::from_mode(SHARED_MODE)).is_ok();
        let _ = file.set_modified(SystemTime::now());
        (is_whole && is_usable).then_some(link)
    }

    /// Begins to receive a file.
    pub fn receive(&self, number: usize) -> io::Result<Arriving> {
        let path = self.job.join(format!("new-{number}"));
        let file = OpenOptions::new().write(true).create_new(true).mode(OWN_MODE).open(&path)?;
        Ok(Arriving { file, path, hash: ContentHash::default() })
    }

    /// Keeps a file that has come as a whole. Returns where it is in the job; None: its content is not what
    /// it should be.
    pub fn keep(
        &mut self,
        arriving: Arriving,
        number: usize,
        sent: &SentFile,
    ) -> io::Result<Option<PathBuf>> {
        let Arriving { file, path, hash } = arriving;
        if hash.finish() != sent.content {
            fs::remove_file(&path)?;
            return Ok(None);
        }
        file.set_permissions(Permissions::from_mode(SHARED_MODE))?;
        // No process may run a file as long as one has it open for writing.
        drop(file);
        let link = self.link(number);
        // That of a damaged copy may be there.
        let _ = fs::remove_file(&link);
        fs::hard_link(&path, &link)?;
        // If two jobs do this at once, both copies are the same.
        fs::rename(&path, self.kept_path(&sent.content))?;
        self.used.push(sent.content.clone());
        Ok(Some(link))
    }

    /// Gives a checked file its name in the job, unless it is to be copied there.
    pub fn name(&self, checked: &Path, sent: &SentFile) -> io::Result<()> {
        fs::hard_link(checked, self.path(sent))
    }

    /// An empty file of the job's own, for a copy.
    pub fn own_file(&self, sent: &SentFile) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(OWN_MODE).open(self.path(sent))
    }

    /// Where a file of this job is.
    pub fn path(&self, sent: &SentFile) -> PathBuf {
        let folder = match sent.sent_as {
            SentAs::Program | SentAs::Data => self.files(),
            SentAs::Library => self.libraries(),
        };
        folder.join(&sent.name)
    }

    /// The folder of the job's files.
    pub fn files(&self) -> PathBuf {
        self.job.join(FILES)
    }

    /// The folder of the job's libraries.
    pub fn libraries(&self) -> PathBuf {
        self.job.join(LIBRARIES)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.job);
        // A file that is open stays in its folder on some file systems.
        self.lock = None;
        let _ = fs::remove_dir_all(&self.job);
        for content in self.used.iter().filter(|_| self.is_temporary) {
            let path = self.kept_path(content);
            // Another job may use it.
            if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.nlink() == 1) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

impl Arriving {
    /// Adds the next part.
    pub fn add(&mut self, part: &[u8]) -> io::Result<()> {
        let before = self.hash.bytes;
        self.file.write_all(part)?;
        self.hash.add(part);
        write_back(&self.file, before, self.hash.bytes);
        Ok(())
    }

    /// How much has come.
    pub fn bytes(&self) -> u64 {
        self.hash.bytes
    }
}

/// Lets the kernel begin to write what has come since there were `before` bytes, and waits for what came long
/// before.
pub(super) fn write_back(file: &File, before: u64, bytes: u64) {
    if before / WRITTEN_AT_ONCE == bytes / WRITTEN_AT_ONCE {
        return;
    }
    let range = |from: u64, length: u64, flags| {
        // SAFETY: takes numbers only. It is advice: errors are those of writing, which come later, too.
        unsafe { libc::sync_file_range(file.as_raw_fd(), from as i64, length as i64, flags) };
    };
    let begun = (bytes / WRITTEN_AT_ONCE) * WRITTEN_AT_ONCE;
    range(begun - WRITTEN_AT_ONCE, WRITTEN_AT_ONCE, libc::SYNC_FILE_RANGE_WRITE);
    if let Some(old) = begun.checked_sub(UNWRITTEN_BYTES) {
        let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE;
        range(old, WRITTEN_AT_ONCE, all | libc::SYNC_FILE_RANGE_WAIT_AFTER);
    }
}

/// Makes the folders of a store, in which only this user can write, and checks what files there must be able
/// to do.
fn prepare(base: &Path, is_temporary: bool, name: &str) -> Result<Store, String> {
    let said = |why: io::Error| why.to_string();
    if is_temporary {
        // Another user may have put a link there.
        match fs::DirBuilder::new().mode(OWN_MODE).create(base) {
            Err(why) if why.kind() != io::ErrorKind::AlreadyExists => return Err(said(why)),
            _ => check_own(base)?,
        }
    }
    for folder in ["files", "jobs"] {
        make_folder(&base.join(folder)).map_err(said)?;
    }
    let base = base.canonicalize().map_err(said)?;
    for folder in ["files", "jobs"] {
        check_safe(&base.join(folder))?;
    }
    let random: [u8; 8] = evenkeel_secret::random().map_err(said)?;
    let job = base.join("jobs").join(format!("{name}-{}-{}", this_boot(), to_hexadecimal(&random)));
    DirBuilder::new().mode(OWN_MODE).create(&job).map_err(said)?;
    let made = lock_new(&job).map_err(said).and_then(|lock| {
        check_uses(&base.join("files"), &job)?;
        for folder in [FILES, LIBRARIES] {
            make_folder(&job.join(folder)).map_err(said)?;
        }
        Ok(lock)
    });
    match made {
        Ok(lock) => Ok(Store { base, job, is_temporary, lock: Some(lock), used: Vec::new() }),
        Err(why) => {
            let _ = fs::remove_dir_all(&job);
            Err(why)
        }
    }
}

/// The kernel that runs here since it was started. Hosts may have one name.
fn this_boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.chars().filter(char::is_ascii_hexdigit).collect()
}

fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(OWN_MODE).create(folder)
}

fn lock_new(job: &Path) -> io::Result<File> {
    let new = job.join("new-lock");
    let lock = OpenOptions::new().read(true).write(true).create_new(true).mode(OWN_MODE).open(&new)?;
    // Where files cannot be locked, others do not take the folder for left behind either.
    let _ = flock(&lock, FlockOperation::NonBlockingLockExclusive);
    // It has its name only when it is locked.
    fs::rename(new, job.join(LOCK))?;
    Ok(lock)
}

/// It is a folder of this user's, no link, and others cannot write to it.
fn check_own(folder: &Path) -> Result<(), String> {
    let own = fs::symlink_metadata(folder).map_err(|why| why.to_string())?;
    let is_own = own.uid() == rustix::process::geteuid().as_raw();
    match own.is_dir() && is_own && own.mode() & OTHERS_WRITE == 0 {
        true => Ok(()),
        false => Err(format!("{} is not this user's own folder", folder.display())),
    }
}

/// No other user can write to this folder, or replace it by another one.
fn check_safe(folder: &Path) -> Result<(), String> {
    let user = rustix::process::geteuid().as_raw();
    for part in folder.ancestors() {
        let metadata = fs::symlink_metadata(part).map_err(|why| why.to_string())?;
        let is_of_others = metadata.uid() != 0 && metadata.uid() != user;
        let is_sticky = metadata.uid() == 0 && metadata.mode() & STICKY != 0;
        if is_of_others || (metadata.mode() & OTHERS_WRITE != 0 && !is_sticky) {
            return Err(format!("other users can write to {}", part.display()));
        }
    }
    check_own(folder)
}

/// A file system may be mounted so that nothing on it can be run, and some know no links.
fn check_uses(files: &Path, job: &Path) -> Result<(), String> {
    let (trial, link) = (job.join("trial"), files.join(job.file_name().unwrap_or_default()));
    let said = |why: io::Error| why.to_string();
    OpenOptions::new().write(true).create_new(true).mode(OWN_MODE).open(&trial).map_err(said)?;
    let is_linked = fs::hard_link(&trial, &link);
    let _ = fs::remove_file(&link);
    is_linked.map_err(|why| format!("files cannot be linked there: {why}"))?;
    access(&trial, Access::EXEC_OK).map_err(|_| "no program can be run from there".to_string())?;
    fs::remove_file(&trial).map_err(said)
}

/// Removes what has not been used for long, and folders of jobs that have ended without removing theirs.
fn tidy(base: &Path) {
    let entries = |folder: &str| fs::read_dir(base.join(folder)).into_iter().flatten().flatten();
    let is_older = |path: &Path, than: Duration| {
        let metadata = fs::symlink_metadata(path);
        let since = metadata.and_then(|metadata| metadata.modified()).map(|at| at.elapsed());
        since.is_ok_and(|since| since.is_ok_and(|since| since > than))
    };
    for entry in entries("files") {
        let is_content =
            |name: &str| name.len() == CONTENT_DIGITS && name.bytes().all(|digit| digit.is_ascii_hexdigit());
        let is_kept = entry.file_name().to_str().is_some_and(is_content);
        if is_kept && is_older(&entry.path(), KEPT) {
            // Another job may have removed it.
            let _ = fs::remove_file(entry.path());
        }
    }
    let here = this_boot();
    for entry in entries("jobs") {
        let name = entry.file_name().into_string().unwrap_or_default();
        let boot = name.split_once('-').and_then(|(_, rest)| rest.rsplit_once('-')).map(|(boot, _)| boot);
        // Some file systems lock files for one host only.
        if boot != Some(&here) && !is_older(&entry.path(), KEPT) {
            continue;
        }
        let lock = OpenOptions::new().read(true).write(true).open(entry.path().join(LOCK));
        let is_left = match lock {
            Ok(lock) => flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
            Err(_) => is_older(&entry.path(), MADE_WITHIN),
        };
        if is_left {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
