//! Files that the client sends to every host before the job starts: the program, its libraries, and what the
//! user names.
//!
//! ```text
//! store      where a host keeps them, for later jobs, too
//! outgoing   pure: what a child is sent of those that it lacks
//! ```
//!
//! Each host looks for copies that it kept, and asks its parent for what it lacks. It keeps what comes, and
//! passes on to its children what they ask for as soon as it is there. So a file goes down the tree in parts,
//! all hosts of a level receive at once, and each part crosses each connection once. A child takes a part by
//! writing it; of what it has not taken there is a window at most.
//!
//! A host checks the content of what it has kept and of what has come.

mod outgoing;
mod store;

use crate::frame::Frame;
use crate::job::HostJob;
use crate::sent_file::{ContentHash, SentAs, SentFile};
use outgoing::{Here, Outgoing, Part, Step};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use store::{Arriving, Store, write_back};

/// How much of a file is checked or copied at once, bytes: the node says in between that it lives.
const DONE_AT_ONCE: u64 = 1 << 20;
/// The variable that names the folder of sent files.
const FOLDER_VARIABLE: &str = "EVENKEEL_SENT_FILES";

/// Where the files are that children ask for.
pub(crate) trait Source {
    /// How much of a file is here.
    fn here(&self, file: usize) -> Here;
    /// Reads a part that is here.
    fn read(&mut self, part: Part) -> io::Result<Vec<u8>>;
    /// A file cannot be read, for this reason.
    fn lose(&mut self, file: usize, why: &io::Error);
}

/// What all children are sent.
pub(crate) struct Dispatch(Vec<Outgoing>);

impl Dispatch {
    pub(crate) fn new(children: usize) -> Dispatch {
        Dispatch((0..children).map(|_| Outgoing::new(children)).collect())
    }

    pub(crate) fn want(&mut self, child: usize, file: usize) {
        self.0[child].want(file);
    }

    pub(crate) fn taken(&mut self, child: usize, bytes: u64) {
        self.0[child].taken(bytes);
    }

    /// Sends what can be sent now.
    pub(crate) fn send(&mut self, source: &mut impl Source, mut send: impl FnMut(usize, &Frame)) {
        for (child, outgoing) in self.0.iter_mut().enumerate() {
            while let Some(step) = outgoing.next(|file| source.here(file)) {
                let part = match step {
                    Step::Send(part) => part,
                    Step::Refuse(file) => {
                        send(child, &Frame::NoFile(file as u32));
                        continue;
                    }
                };
                match source.read(part) {
                    Ok(bytes) => send(child, &Frame::FilePart(part.file as u32, bytes)),
                    Err(why) => {
                        source.lose(part.file, &why);
                        outgoing.refuse(part.file);
                        outgoing.taken(part.bytes);
                        send(child, &Frame::NoFile(part.file as u32));
                    }
                }
            }
        }
    }
}

/// Files that are read in parts, of which the one that was read last is open.
#[derive(Default)]
struct OpenFile(Option<(usize, File)>);

impl OpenFile {
    fn read(&mut self, path: &Path, part: Part) -> io::Result<Vec<u8>> {
        if self.0.as_ref().is_none_or(|(file, _)| *file != part.file) {
            self.0 = Some((part.file, File::open(path)?));
        }
        let mut bytes = vec![0; part.bytes as usize];
        if let Some((_, file)) = &self.0 {
            file.read_exact_at(&mut bytes, part.from)?;
        }
        Ok(bytes)
    }
}

/// The client's files.
pub(crate) struct Originals {
    sent: Vec<SentFile>,
    is_lost: Vec<bool>,
    open: OpenFile,
}

impl Originals {
    pub(crate) fn new(sent: &[SentFile]) -> Originals {
        Originals { sent: sent.to_vec(), is_lost: vec![false; sent.len()], open: OpenFile::default() }
    }
}

impl Source for Originals {
    fn here(&self, file: usize) -> Here {
        match self.sent.get(file) {
            Some(sent) if !self.is_lost[file] => Here::Partly { bytes: sent.bytes, of: sent.bytes },
            _ => Here::Never,
        }
    }

    fn read(&mut self, part: Part) -> io::Result<Vec<u8>> {
        self.open.read(Path::new(&self.sent[part.file].path), part)
    }

    fn lose(&mut self, file: usize, _why: &io::Error) {
        self.is_lost[file] = true;
    }
}

/// What a host knows of a file.
enum State {
    /// It is not known whether a copy was kept.
    Unknown,
    /// A copy was kept; this link to it is being checked.
    Checking(PathBuf, File, ContentHash),
    /// The parent was asked for it.
    Wanted,
    /// It is coming; it can be read as far as it has come.
    Coming(Arriving),
    /// It was checked, at this path, and is being copied to another file.
    Copying(PathBuf, File, Copy),
    /// It was checked, at this path, and has its name in the job.
    Here(PathBuf),
    /// It will not come.
    Lost,
}

/// A copy that is being made.
struct Copy {
    to: File,
    bytes: u64,
}

/// What a host is to do for a delivery.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Ask the parent for this file.
    Ask(usize),
    /// All files are here.
    Finish,
    /// One cannot be had, for the reason that this sentence says.
    GiveUp(String),
}

/// The files on a host.
pub(crate) struct Delivery {
    sent: Vec<SentFile>,
    host: String,
    states: Vec<State>,
    /// None: nothing is sent, there is no folder for it, or the job is over.
    store: Option<Store>,
    /// Why a file cannot be had, until that has been said.
    problem: Option<String>,
    /// The file that children read.
    open: OpenFile,
    /// What is read of a kept file: one buffer for all parts.
    buffer: Vec<u8>,
    is_over: bool,
}

impl Delivery {
    /// A delivery to this host, for the job of this name.
    pub(crate) fn start(sent: &[SentFile], host: &str, name: &str) -> Delivery {
        let (store, problem) = match (!sent.is_empty()).then(|| open_store(host, name)) {
            None => (None, None),
            Some(Ok(store)) => (Some(store), None),
            Some(Err(why)) => (None, Some(why)),
        };
        let mut delivery = Delivery {
            sent: sent.to_vec(),
            host: host.to_string(),
            states: sent.iter().map(|_| State::Unknown).collect(),
            store,
            problem: None,
            open: OpenFile::default(),
            buffer: Vec::new(),
            is_over: false,
        };
        if let Some(why) = problem {
            delivery.abandon(why);
        }
        delivery
    }

    /// Whether this path is one of a file that is sent.
    pub(crate) fn brings(&self, path: &OsStr) -> bool {
        self.sent.iter().any(|sent| sent.path == path)
    }

    /// Nothing more is to come, for the reason that this sentence says. Children that wait are not to wait
    /// for ever.
    pub(crate) fn abandon(&mut self, why: String) {
        if !self.is_over && self.problem.is_none() {
            self.problem = Some(why);
            let is_missing = |state: &&mut State| !matches!(state, State::Here(_));
            self.states.iter_mut().filter(is_missing).for_each(|state| *state = State::Lost);
        }
    }

    fn abandon_for(&mut self, file: usize, why: &dyn std::fmt::Display) {
        let (host, path) = (&self.host, Path::new(&self.sent[file].path).display());
        self.abandon(format!("host {host} cannot be sent {path}: {why}."));
    }

    /// Does a part of what can be done without the parent.
    pub(crate) fn work(&mut self) -> Option<Task> {
        if self.is_over {
            return None;
        }
        if let Some(why) = self.problem.take() {
            self.is_over = true;
            return Some(Task::GiveUp(why));
        }
        if self.states.iter().all(|state| matches!(state, State::Here(_))) {
            self.is_over = true;
            return Some(Task::Finish);
        }
        let number = self.states.iter().position(is_unfinished)?;
        match self.go_on(number) {
            Ok(task) => task,
            Err(why) => {
                self.abandon_for(number, &why);
                None
            }
        }
    }

    /// Whether [`Delivery::work`] has something to do.
    pub(crate) fn has_work(&self) -> bool {
        let is_here = |state: &State| matches!(state, State::Here(_));
        let is_ready = self.problem.is_some() || self.states.iter().all(is_here);
        !self.is_over && (is_ready || self.states.iter().any(is_unfinished))
    }

    /// Does the next part of what is to be done for a file.
    fn go_on(&mut self, number: usize) -> io::Result<Option<Task>> {
        let Some(store) = &mut self.store else { return Ok(None) };
        let sent = &self.sent[number];
        let left = |done: u64| (sent.bytes - done).min(DONE_AT_ONCE);
        match std::mem::replace(&mut self.states[number], State::Wanted) {
            State::Unknown => {
                let kept = store.link_kept(number, sent);
                let Some((path, file)) = kept.and_then(|path| Some((path.clone(), File::open(path).ok()?)))
                else {
                    return Ok(Some(Task::Ask(number)));
                };
                self.states[number] = State::Checking(path, file, ContentHash::default());
            }
            State::Checking(path, file, mut hash) => {
                let left = left(hash.bytes);
                self.buffer.resize(left as usize, 0);
                match file.read_exact_at(&mut self.buffer, hash.bytes) {
                    Ok(()) if left > 0 => {
                        hash.add(&self.buffer);
                        self.states[number] = State::Checking(path, file, hash);
                    }
                    Ok(()) if hash.finish() == sent.content => self.have(number, path)?,
                    // It is damaged.
                    _ => return Ok(Some(Task::Ask(number))),
                }
            }
            State::Copying(path, file, mut copy) => {
                let left = left(copy.bytes);
                self.buffer.resize(left as usize, 0);
                file.read_exact_at(&mut self.buffer, copy.bytes)?;
                copy.to.write_all(&self.buffer)?;
                write_back(&copy.to, copy.bytes, copy.bytes + left);
                copy.bytes += left;
                self.states[number] = match copy.bytes == sent.bytes {
                    true => State::Here(path),
                    false => State::Copying(path, file, copy),
                };
            }
            other => self.states[number] = other,
        }
        Ok(None)
    }

    /// The file at `path` is whole.
    fn have(&mut self, number: usize, path: PathBuf) -> io::Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let sent = &self.sent[number];
        if sent.sent_as != SentAs::Data {
            store.name(&path, sent)?;
            self.states[number] = State::Here(path);
            return Ok(());
        }
        let (file, to) = (File::open(&path)?, store.own_file(sent)?);
        // Some file systems copy only what is changed.
        self.states[number] = match rustix::fs::ioctl_ficlone(&to, &file) {
            Ok(()) => State::Here(path),
            Err(_) => State::Copying(path, file, Copy { to, bytes: 0 }),
        };
        Ok(())
    }

    /// The next part of a file has come.
    pub(crate) fn take(&mut self, number: usize, bytes: &[u8]) {
        if self.is_over || !matches!(self.states.get(number), Some(State::Wanted | State::Coming(_))) {
            return;
        }
        if let Err(why) = self.add(number, bytes) {
            self.abandon_for(number, &why);
        }
    }

    fn add(&mut self, number: usize, bytes: &[u8]) -> io::Result<()> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let sent = &self.sent[number];
        let mut arriving = match std::mem::replace(&mut self.states[number], State::Lost) {
            State::Coming(arriving) => arriving,
            _ => store.receive(number)?,
        };
        arriving.add(bytes)?;
        if arriving.bytes() < sent.bytes {
            self.states[number] = State::Coming(arriving);
            return Ok(());
        }
        let kept = store.keep(arriving, number, sent)?;
        let path = kept.ok_or_else(|| io::Error::other("it has changed while it was sent"))?;
        self.have(number, path)
    }

    /// The parent cannot send a file.
    pub(crate) fn refused(&mut self, number: usize) {
        if number < self.sent.len() {
            self.abandon_for(number, &"the host that it comes from cannot read it, or has not got it itself");
        }
    }

    /// Puts the files' paths here into a job in place of those on the client.
    pub(crate) fn localize(&self, job: &mut HostJob) {
        let Some(store) = &self.store else { return };
        let local = |path: &OsStr| -> Option<OsString> {
            let sent = self.sent.iter().find(|sent| sent.path == path)?;
            Some(store.path(sent).into())
        };
        let replace = |word: &mut OsString| *word = local(word).unwrap_or_else(|| word.clone());
        replace(&mut job.program);
        job.arguments.iter_mut().for_each(replace);
        job.files.iter_mut().for_each(replace);
        for (name, value) in &mut job.environment {
            if name == "LD_PRELOAD" || name.as_bytes().starts_with(b"EVENKEEL_") {
                let parts = value.as_bytes().split(|byte| *byte == b':').map(OsStr::from_bytes);
                let parts: Vec<Vec<u8>> = parts.map(|part| in_variable(part, &local).into_vec()).collect();
                *value = OsString::from_vec(parts.join(&b':'));
            }
        }
        job.environment.push((FOLDER_VARIABLE.into(), store.files().into()));
        if self.sent.iter().any(|sent| sent.sent_as == SentAs::Library) {
            put_in_front(&mut job.environment, "LD_LIBRARY_PATH", store.libraries().as_os_str());
        }
    }

    /// The job is over: its folder is removed.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
        self.states.iter_mut().for_each(|state| *state = State::Lost);
        self.open = OpenFile::default();
        self.store = None;
    }
}

/// Whether something can be done for a file without the parent.
fn is_unfinished(state: &State) -> bool {
    matches!(state, State::Unknown | State::Checking(..) | State::Copying(..))
}

/// A part of a variable's value, in which other things stand than paths.
fn in_variable(part: &OsStr, local: &impl Fn(&OsStr) -> Option<OsString>) -> OsString {
    let path = part.as_bytes().contains(&b'/').then(|| local(part)).flatten();
    path.unwrap_or_else(|| part.to_os_string())
}

impl Source for Delivery {
    fn here(&self, file: usize) -> Here {
        match self.states.get(file) {
            None | Some(State::Lost) => Here::Never,
            Some(State::Here(_) | State::Copying(..)) => {
                Here::Partly { bytes: self.sent[file].bytes, of: self.sent[file].bytes }
            }
            Some(State::Coming(arriving)) => {
                Here::Partly { bytes: arriving.bytes(), of: self.sent[file].bytes }
            }
            Some(State::Unknown | State::Checking(..) | State::Wanted) => Here::Nothing,
        }
    }

    fn read(&mut self, part: Part) -> io::Result<Vec<u8>> {
        match &self.states[part.file] {
            State::Here(path) | State::Copying(path, ..) => self.open.read(path, part),
            State::Coming(arriving) => self.open.read(&arriving.path, part),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn lose(&mut self, file: usize, why: &io::Error) {
        self.states[file] = State::Lost;
        self.abandon_for(file, why);
    }
}

fn open_store(host: &str, name: &str) -> Result<Store, String> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    let temporary = [folder("TMPDIR"), Some("/tmp".into()), Some("/dev/shm".into())];
    let temporary: Vec<PathBuf> = temporary.into_iter().flatten().collect();
    Store::open(name, cache, &temporary).map_err(|why| format!("host {host} cannot be sent files: {why}."))
}

/// Puts a folder in front of those of a variable.
fn put_in_front(environment: &mut Vec<(OsString, OsString)>, name: &str, folder: &OsStr) {
    match environment.iter_mut().find(|(known, value)| known == name && !value.is_empty()) {
        Some((_, value)) => {
            let mut all = folder.to_os_string();
            all.push(":");
            all.push(&*value);
            *value = all;
        }
        None => {
            environment.retain(|(known, _)| known != name);
            environment.push((name.into(), folder.into()));
        }
    }
}
