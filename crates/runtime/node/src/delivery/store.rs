//! Where a host keeps files that it was sent: by their content, for later jobs, too.
//!
//! ```text
//! BASE/files/CONTENT        a file, named by the SHA-256 of its content
//! BASE/jobs/NAME-HOST-PID/… its names in one job: hard links, removed with the job
//! ```
//!
//! `BASE` is `evenkeel` in the user's folder for caches, or else a folder of the user's own where temporary
//! files are. No other user can write to it or replace it, and programs may be run from it. Hosts may share
//! it.

use super::manifest::{ContentHash, SentAs, SentFile};
use rustix::fs::{Access, access};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files that no job has used for so long are removed.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);
/// For the user alone, who is not to change the copy: it is named by its content.
const FILE_MODE: u32 = 0o500;
const FOLDER_MODE: u32 = 0o700;
/// Others may write to a folder only if it is sticky, and root's.
const STICKY: u32 = 0o1000;
const OTHERS_WRITE: u32 = 0o022;

/// The names of files and libraries within a job's folder.
const FILES: &str = "files";
const LIBRARIES: &str = "libraries";

/// The files that this host keeps, and the folder of one job.
pub(super) struct Store {
    base: PathBuf,
    job: PathBuf,
}

/// A file that is being received.
pub(super) struct Arriving {
    file: File,
    path: PathBuf,
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
        let own = temporary.iter().map(|folder| folder.join(format!("evenkeel-{user}")));
        let mut refused = Vec::new();
        for base in cache.map(|folder| folder.join("evenkeel")).into_iter().chain(own) {
            match prepare(&base) {
                Ok(base) => {
                    let job = format!("{name}-{}-{}", this_host(), std::process::id());
                    let job = base.join("jobs").join(job);
                    let store = Store { base, job };
                    store.tidy();
                    for folder in [FILES, LIBRARIES] {
                        make_folder(&store.job.join(folder)).map_err(|why| {
                            format!("cannot make the folder {}: {why}", store.job.display())
                        })?;
                    }
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

    fn file(&self, content: &str) -> PathBuf {
        self.base.join("files").join(content)
    }

    /// Removes what has not been used for long, and folders of jobs that have ended without removing theirs.
    fn tidy(&self) {
        let entries = |folder: &str| fs::read_dir(self.base.join(folder)).into_iter().flatten().flatten();
        for entry in entries("files") {
            let used = entry.metadata().and_then(|metadata| metadata.modified());
            if used.is_ok_and(|used| used.elapsed().is_ok_and(|since| since > KEPT)) {
                // Another job may have removed it.
                let _ = fs::remove_file(entry.path());
            }
        }
        let here = format!("-{}", this_host());
        for entry in entries("jobs") {
            let name = entry.file_name();
            let parts = name.to_str().and_then(|name| name.rsplit_once('-'));
            // Of processes on other hosts nothing is known.
            let pid = parts.filter(|(job, _)| job.ends_with(&here)).map(|(_, pid)| pid);
            if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// The kept file of this content, if there is one of this length. Its content is to be checked.
    pub fn kept(&self, sent: &SentFile) -> Option<File> {
        let file = File::open(self.file(&sent.content)).ok()?;
        let is_whole = file.metadata().is_ok_and(|metadata| metadata.len() == sent.bytes);
        // It is used, and stays.
        let _ = file.set_modified(SystemTime::now());
        is_whole.then_some(file)
    }

    /// Begins to receive a file.
    pub fn receive(&self, sent: &SentFile) -> io::Result<Arriving> {
        let path = self.job.join(format!("new-{}", sent.content));
        // What a corrupted copy is replaced by must be another file: the old one may be in use.
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).mode(FOLDER_MODE).open(&path)?;
        Ok(Arriving { file, path, hash: ContentHash::default() })
    }

    /// Keeps a file that has come as a whole, and returns it, to be read. None: its content is not what it
    /// should be.
    pub fn keep(&self, arriving: Arriving, sent: &SentFile) -> io::Result<Option<File>> {
        let Arriving { file, path, hash } = arriving;
        if hash.finish() != sent.content {
            fs::remove_file(&path)?;
            return Ok(None);
        }
        file.set_permissions(Permissions::from_mode(FILE_MODE))?;
        // If two jobs do this at once, both copies are the same.
        let kept = self.file(&sent.content);
        fs::rename(&path, &kept)?;
        // No process may run it as long as one has it open for writing.
        drop(file);
        File::open(kept).map(Some)
    }

    /// Gives a kept file its name in this job.
    pub fn name(&self, sent: &SentFile) -> io::Result<()> {
        fs::hard_link(self.file(&sent.content), self.path(sent))
    }

    /// Where a file of this job is.
    pub fn path(&self, sent: &SentFile) -> PathBuf {
        let folder = match sent.sent_as {
            SentAs::File => self.files(),
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
    }
}

impl Arriving {
    /// Adds the next part.
    pub fn add(&mut self, part: &[u8]) -> io::Result<()> {
        self.file.write_all(part)?;
        self.hash.add(part);
        Ok(())
    }

    /// How much has come.
    pub fn bytes(&self) -> u64 {
        self.hash.bytes
    }

    /// The same file, to be read.
    pub fn reader(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

/// Makes a folder in which only this user can write, and checks that programs can be run from there. Returns
/// its path without links.
fn prepare(base: &Path) -> Result<PathBuf, String> {
    let said = |why: io::Error| why.to_string();
    for folder in ["files", "jobs"] {
        make_folder(&base.join(folder)).map_err(said)?;
    }
    let base = base.canonicalize().map_err(said)?;
    for folder in ["files", "jobs"] {
        check_safe(&base.join(folder))?;
    }
    check_runs_programs(&base.join("jobs"))?;
    Ok(base)
}

fn this_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)
}

/// No other user can write to this folder, or replace it by another one.
fn check_safe(folder: &Path) -> Result<(), String> {
    let user = rustix::process::geteuid().as_raw();
    for part in folder.ancestors() {
        let metadata = fs::symlink_metadata(part).map_err(|why| why.to_string())?;
        let is_sticky = metadata.uid() == 0 && metadata.mode() & STICKY != 0;
        if metadata.uid() != 0 && metadata.uid() != user || metadata.mode() & OTHERS_WRITE != 0 && !is_sticky
        {
            return Err(format!("other users can write to {}", part.display()));
        }
    }
    let own = fs::symlink_metadata(folder).map_err(|why| why.to_string())?;
    match own.is_dir() && own.uid() == user && own.mode() & OTHERS_WRITE == 0 {
        true => Ok(()),
        false => Err(format!("{} is not this user's own folder", folder.display())),
    }
}

/// A folder may be mounted so that nothing in it can be run.
fn check_runs_programs(folder: &Path) -> Result<(), String> {
    let trial = folder.join(OsStr::new(&format!("trial-{}", std::process::id())));
    let made = OpenOptions::new().write(true).create_new(true).mode(FOLDER_MODE).open(&trial);
    made.map_err(|why| why.to_string())?;
    let may_run = access(&trial, Access::EXEC_OK);
    let _ = fs::remove_file(&trial);
    may_run.map_err(|_| format!("no program can be run from {}", folder.display()))
}
