//! Files that the client sends to every host before the job starts: the program, its libraries, and what the
//! user names.
//!
//! ```text
//! manifest   which files these are, named by their content
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

mod manifest;
mod outgoing;
mod store;

use crate::frame::Frame;
use crate::job::HostJob;
use manifest::ContentHash;
pub use manifest::{SentAs, SentFile};
use outgoing::{Here, Outgoing, Part, Step};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use store::{Arriving, Store};

/// How much of a kept file is checked at once, bytes: the node says meanwhile that it lives.
const CHECKED_AT_ONCE: usize = 1 << 20;
/// The variable that names the folder of sent files.
const FOLDER_VARIABLE: &str = "EVENKEEL_SENT_FILES";

/// Where the files are that children ask for.
pub(crate) trait Source {
    /// How much of a file is here.
    fn here(&self, file: usize) -> Here;
    /// Reads a part that is here.
    fn read(&self, part: Part) -> io::Result<Vec<u8>>;
    /// A file cannot be read.
    fn lose(&mut self, file: usize);
}

/// What all children are sent.
pub(crate) struct Dispatch(Vec<Outgoing>);

impl Dispatch {
    pub(crate) fn new(children: usize) -> Dispatch {
        Dispatch((0..children).map(|_| Outgoing::default()).collect())
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
                let Step::Send(part) = step else {
                    let Step::Refuse(file) = step else { unreachable!() };
                    send(child, &Frame::NoFile(file as u32));
                    continue;
                };
                match source.read(part) {
                    Ok(bytes) => send(child, &Frame::FilePart(part.file as u32, bytes)),
                    Err(_) => {
                        source.lose(part.file);
                        outgoing.refuse(part.file);
                        send(child, &Frame::NoFile(part.file as u32));
                    }
                }
            }
        }
    }
}

/// The client's files.
pub(crate) struct Originals(Vec<(Option<File>, u64)>);

impl Originals {
    pub(crate) fn open(sent: &[SentFile]) -> Originals {
        Originals(sent.iter().map(|sent| (File::open(&sent.path).ok(), sent.bytes)).collect())
    }
}

impl Source for Originals {
    fn here(&self, file: usize) -> Here {
        match self.0.get(file) {
            Some((Some(_), bytes)) => Here::Partly { bytes: *bytes, of: *bytes },
            _ => Here::Never,
        }
    }

    fn read(&self, part: Part) -> io::Result<Vec<u8>> {
        let file = self.0[part.file].0.as_ref().ok_or(io::ErrorKind::NotFound)?;
        read_part(file, part)
    }

    fn lose(&mut self, file: usize) {
        self.0[file].0 = None;
    }
}

fn read_part(file: &File, part: Part) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; part.bytes as usize];
    file.read_exact_at(&mut bytes, part.from)?;
    Ok(bytes)
}

/// What a host knows of a file.
enum State {
    /// It is not known whether a copy was kept.
    Unknown,
    /// A copy was kept, and is being checked.
    Checking(File, ContentHash),
    /// The parent was asked for it.
    Wanted,
    /// It is coming; it can be read as far as it has come.
    Coming(Arriving, File),
    /// It is here, and has its name in the job.
    Here(File),
    /// It will not come.
    Lost,
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
    /// None: nothing is sent, or there is no folder for it.
    store: Option<Store>,
    /// Why there is no folder, until that has been said.
    problem: Option<String>,
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
        let state = || if problem.is_none() { State::Unknown } else { State::Lost };
        let states = sent.iter().map(|_| state()).collect();
        Delivery { sent: sent.to_vec(), host: host.to_string(), states, store, problem, is_over: false }
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
        let number =
            self.states.iter().position(|state| matches!(state, State::Unknown | State::Checking(..)))?;
        let store = self.store.as_ref()?;
        let sent = &self.sent[number];
        match std::mem::replace(&mut self.states[number], State::Wanted) {
            State::Unknown => match store.kept(sent) {
                Some(file) => self.states[number] = State::Checking(file, ContentHash::default()),
                None => return Some(Task::Ask(number)),
            },
            State::Checking(file, mut hash) => {
                let left = (sent.bytes - hash.bytes).min(CHECKED_AT_ONCE as u64);
                let part = Part { file: number, from: hash.bytes, bytes: left };
                match read_part(&file, part) {
                    Ok(bytes) if left > 0 => {
                        hash.add(&bytes);
                        self.states[number] = State::Checking(file, hash);
                    }
                    Ok(_) if hash.finish() == sent.content => return self.have(number, file),
                    // It is damaged.
                    _ => return Some(Task::Ask(number)),
                }
            }
            _ => {}
        }
        None
    }

    /// Whether [`Delivery::work`] has something to do.
    pub(crate) fn has_work(&self) -> bool {
        let is_unknown = |state: &State| matches!(state, State::Unknown | State::Checking(..));
        let is_here = |state: &State| matches!(state, State::Here(_));
        !self.is_over
            && (self.problem.is_some()
                || self.states.iter().any(is_unknown)
                || self.states.iter().all(is_here))
    }

    /// The next part of a file has come.
    pub(crate) fn take(&mut self, number: usize, bytes: &[u8]) -> Option<Task> {
        if self.is_over || !matches!(self.states.get(number), Some(State::Wanted | State::Coming(..))) {
            return None;
        }
        let sent = self.sent[number].clone();
        let added = self.add(number, &sent, bytes);
        match added {
            Ok(Some(file)) => self.have(number, file),
            Ok(None) => None,
            Err(why) => {
                self.states[number] = State::Lost;
                self.give_up(&sent, &why)
            }
        }
    }

    /// Returns the file when it is whole.
    fn add(&mut self, number: usize, sent: &SentFile, bytes: &[u8]) -> io::Result<Option<File>> {
        let Some(store) = &self.store else { return Ok(None) };
        let (mut arriving, reader) = match std::mem::replace(&mut self.states[number], State::Lost) {
            State::Coming(arriving, reader) => (arriving, reader),
            _ => {
                let arriving = store.receive(sent)?;
                let reader = arriving.reader()?;
                (arriving, reader)
            }
        };
        arriving.add(bytes)?;
        if arriving.bytes() < sent.bytes {
            self.states[number] = State::Coming(arriving, reader);
            return Ok(None);
        }
        let kept = store.keep(arriving, sent)?;
        kept.map(Some).ok_or_else(|| io::Error::other("it has changed while it was sent"))
    }

    fn have(&mut self, number: usize, file: File) -> Option<Task> {
        self.states[number] = State::Here(file);
        let sent = &self.sent[number];
        let why = self.store.as_ref()?.name(sent).err()?;
        let sent = sent.clone();
        self.give_up(&sent, &why)
    }

    /// The parent cannot send a file.
    pub(crate) fn refused(&mut self, number: usize) -> Option<Task> {
        let sent = self.sent.get(number)?.clone();
        self.states[number] = State::Lost;
        self.give_up(&sent, &"it can no longer be read where it comes from")
    }

    fn give_up(&mut self, sent: &SentFile, why: &dyn std::fmt::Display) -> Option<Task> {
        if std::mem::replace(&mut self.is_over, true) {
            return None;
        }
        // Children that wait for others are not to wait for ever.
        for state in self.states.iter_mut().filter(|state| !matches!(state, State::Here(_))) {
            *state = State::Lost;
        }
        Some(Task::GiveUp(format!(
            "host {} cannot be sent {}: {why}. Start the job again when that is repaired.",
            self.host,
            Path::new(&sent.path).display()
        )))
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
                let parts: Vec<Vec<u8>> =
                    parts.map(|part| local(part).unwrap_or_else(|| part.to_os_string()).into_vec()).collect();
                *value = OsString::from_vec(parts.join(&b':'));
            }
        }
        job.environment.push((FOLDER_VARIABLE.into(), store.files().into()));
        if self.sent.iter().any(|sent| sent.sent_as == SentAs::Library) {
            put_in_front(&mut job.environment, "LD_LIBRARY_PATH", store.libraries().as_os_str());
        }
    }
}

impl Source for Delivery {
    fn here(&self, file: usize) -> Here {
        let of = |bytes: u64| Here::Partly { bytes, of: self.sent[file].bytes };
        match self.states.get(file) {
            None | Some(State::Lost) => Here::Never,
            Some(State::Here(_)) => of(self.sent[file].bytes),
            Some(State::Coming(arriving, _)) => of(arriving.bytes()),
            Some(State::Unknown | State::Checking(..) | State::Wanted) => of(0),
        }
    }

    fn read(&self, part: Part) -> io::Result<Vec<u8>> {
        match &self.states[part.file] {
            State::Here(file) | State::Coming(_, file) => read_part(file, part),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn lose(&mut self, file: usize) {
        self.states[file] = State::Lost;
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
