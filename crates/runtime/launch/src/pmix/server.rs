//! The server of one job: what ranks are told, and what they ask of the launcher.

use super::library::{
    Callbacks, Done, FenceDone, InfoList, NOT_SUPPORTED, Pmix, Process, RawInfo, SUCCEEDED, SUCCESS, Value,
    characters,
};
use crate::job::JobError;
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_void};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::{env, fs, ptr};

/// The pipe into which callbacks write: they are functions without an object, and a process has one server.
static PIPE: AtomicI32 = AtomicI32::new(-1);

/// What a rank has told its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// It is in `MPI_Init`.
    Connected { rank: u32 },
    /// It is in `MPI_Finalize`.
    Finalized { rank: u32 },
    /// It ends the job.
    Abort { rank: u32, code: i32 },
    /// It wants processes started, and was refused.
    Spawn { rank: u32 },
}

const RECORD_BYTES: usize = 12;

impl Request {
    fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let (kind, rank, code): (u32, u32, i32) = match self {
            Request::Connected { rank } => (0, rank, 0),
            Request::Finalized { rank } => (1, rank, 0),
            Request::Abort { rank, code } => (2, rank, code),
            Request::Spawn { rank } => (3, rank, 0),
        };
        let mut bytes = [0; RECORD_BYTES];
        bytes[..4].copy_from_slice(&kind.to_ne_bytes());
        bytes[4..8].copy_from_slice(&rank.to_ne_bytes());
        bytes[8..].copy_from_slice(&code.to_ne_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Request {
        let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let rank = u32::from_ne_bytes(word(4));
        match u32::from_ne_bytes(word(0)) {
            0 => Request::Connected { rank },
            1 => Request::Finalized { rank },
            2 => Request::Abort { rank, code: i32::from_ne_bytes(word(8)) },
            _ => Request::Spawn { rank },
        }
    }

    /// Called in the thread of `libpmix`.
    fn send(self) {
        let bytes = self.to_bytes();
        // A pipe takes so few bytes whole. If the launcher is gone, so is the job.
        // SAFETY: the buffer is valid.
        unsafe { libc::write(PIPE.load(Ordering::Acquire), bytes.as_ptr().cast(), bytes.len()) };
    }
}

/// The server of one job. Ranks are numbered from 0.
pub(crate) struct Server {
    pmix: Pmix,
    name: String,
    requests: OwnedFd,
    folder: PathBuf,
    /// By rank: connected, and not finalized.
    is_inside: Vec<bool>,
}

impl Server {
    /// Starts the server of `library` for a job of this name, and tells it about the ranks.
    pub(crate) fn start(library: &Path, name: &str, ranks: u32) -> Result<Server, JobError> {
        let failed = |why: String| JobError::Pmix { library: library.to_path_buf(), why };
        let pmix = Pmix::load(library)?;
        let (requests, sender) =
            pipe_with(PipeFlags::CLOEXEC).map_err(JobError::system("a pipe for PMIx"))?;
        rustix::io::ioctl_fionbio(&requests, true).map_err(JobError::system("a pipe for PMIx"))?;
        PIPE.store(sender.as_raw_fd(), Ordering::Release);
        // Callbacks may come until the process ends.
        std::mem::forget(sender);
        let name = format!("evenkeel-{name}");
        let folder = env::temp_dir().join(&name);
        make_private(&folder).map_err(JobError::system("a folder for PMIx"))?;
        let server = Server { pmix, name, requests, folder, is_inside: vec![false; ranks as usize] };
        // From here on, dropping the server removes the folder.
        server.serve().map_err(failed)?;
        Ok(server)
    }

    fn serve(&self) -> Result<(), String> {
        let folder = text(self.folder.as_os_str().as_bytes());
        let mut about_server = InfoList::default()
            .with("pmix.srvr.tmpdir", Value::Text(folder))
            .with("pmix.srv.nspace", Value::Text(text(format!("{}-server", self.name).as_bytes())))
            .with("pmix.srv.rank", Value::Rank(0));
        let (infos, count) = about_server.raw();
        // SAFETY: the callbacks are static; the list lives until the call has returned.
        check("PMIx_server_init", unsafe { (self.pmix.init)(&CALLBACKS, infos, count) })?;
        let mut about_job = self.about_job()?;
        let (infos, count) = about_job.raw();
        let (name, ranks) = (characters::<256>(&self.name), self.is_inside.len());
        // SAFETY: without a callback the call returns when it is done with the list.
        check("PMIx_server_register_nspace", unsafe {
            let register = self.pmix.register_namespace;
            register(name.as_ptr(), ranks as c_int, infos, count, None, ptr::null_mut())
        })?;
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        for rank in 0..ranks as u32 {
            let process = self.process(rank);
            // SAFETY: as above.
            check("PMIx_server_register_client", unsafe {
                let register = self.pmix.register_client;
                register(&process, user, group, ptr::null_mut(), None, ptr::null_mut())
            })?;
        }
        Ok(())
    }

    fn process(&self, rank: u32) -> Process {
        Process { namespace: characters(&self.name), rank }
    }

    /// What every rank may ask about the job and about each rank.
    fn about_job(&self) -> Result<InfoList, String> {
        let ranks = self.is_inside.len() as u32;
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let all = (0..ranks).map(|rank| rank.to_string()).collect::<Vec<_>>().join(",");
        let folder = || Value::Text(text(self.folder.as_os_str().as_bytes()));
        let mut list = InfoList::default()
            .with("pmix.jobid", Value::Text(text(self.name.as_bytes())))
            .with("pmix.nmap", Value::Text(generated(self.pmix.generate_regex, &host)?))
            .with("pmix.pmap", Value::Text(generated(self.pmix.generate_ppn, &all)?))
            .with("pmix.lpeers", Value::Text(text(all.as_bytes())))
            .with("pmix.lldr", Value::Rank(0))
            .with("pmix.tmpdir", folder())
            .with("pmix.nsdir", folder())
            .with("pmix.tdir.rmclean", Value::Bool(true))
            .with("pmix.num.nodes", Value::Number(1));
        for key in ["univ", "job", "max", "local", "node", "app"] {
            list = list.with(&format!("pmix.{key}.size"), Value::Number(ranks));
        }
        for rank in 0..ranks {
            let process = InfoList::default()
                .with("pmix.rank", Value::Rank(rank))
                .with("pmix.grank", Value::Rank(rank))
                .with("pmix.apprank", Value::Rank(rank))
                .with("pmix.appnum", Value::Number(0))
                .with("pmix.lrank", Value::Short(rank as u16))
                .with("pmix.nrank", Value::Short(rank as u16))
                .with("pmix.nodeid", Value::Number(0))
                .with("pmix.hname", Value::Text(text(host.as_bytes())))
                .with("pmix.pdir", folder());
            list = list.with("pmix.pdata", Value::List(process));
        }
        Ok(list)
    }

    /// What a rank finds in its environment.
    pub(crate) fn variables(&self, rank: u32) -> Result<Vec<(OsString, OsString)>, JobError> {
        let mut raw: *mut *mut c_char = ptr::null_mut();
        let process = self.process(rank);
        // SAFETY: the library makes the list, which ends with a null pointer.
        let status = unsafe { (self.pmix.setup_fork)(&process, &mut raw) };
        let failed = |why| JobError::Pmix { library: PathBuf::from("libpmix.so.2"), why };
        check("PMIx_server_setup_fork", status).map_err(failed)?;
        let mut variables = Vec::new();
        let mut at = raw;
        // SAFETY: as above. The few strings are left to the end of the process.
        while let Some(entry) = unsafe { at.as_ref() }.filter(|entry| !entry.is_null()) {
            // SAFETY: each entry is a string `NAME=value`.
            let bytes = unsafe { CStr::from_ptr(*entry) }.to_bytes();
            if let Some(equals) = bytes.iter().position(|byte| *byte == b'=') {
                let part = |part: &[u8]| OsString::from_vec(part.to_vec());
                variables.push((part(&bytes[..equals]), part(&bytes[equals + 1..])));
            }
            // SAFETY: the entry was not the last one.
            at = unsafe { at.add(1) };
        }
        let own = [
            ("OMPI_COMM_WORLD_RANK", rank.to_string()),
            ("OMPI_COMM_WORLD_LOCAL_RANK", rank.to_string()),
            ("OMPI_COMM_WORLD_SIZE", self.is_inside.len().to_string()),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", self.is_inside.len().to_string()),
            // Open MPI 4 asks a PMIx server only under a launcher that it knows, which this variable
            // names; without it each rank takes itself for rank 0 of 1.
            ("JSM_JSRUN_PORT", "0".to_string()),
        ];
        variables.extend(own.map(|(name, value)| (name.into(), value.into())));
        Ok(variables)
    }

    /// Becomes readable when a rank has told something.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.requests.as_fd()
    }

    /// What ranks have told since the last call.
    pub(crate) fn take(&mut self) -> Vec<Request> {
        let mut taken = Vec::new();
        let mut bytes = [0; RECORD_BYTES];
        // Records are written whole.
        while rustix::io::read(&self.requests, &mut bytes) == Ok(RECORD_BYTES) {
            let request = Request::from_bytes(&bytes);
            match request {
                Request::Connected { rank } => self.set_inside(rank, true),
                Request::Finalized { rank } => self.set_inside(rank, false),
                Request::Abort { .. } | Request::Spawn { .. } => {}
            }
            taken.push(request);
        }
        taken
    }

    fn set_inside(&mut self, rank: u32, is_inside: bool) {
        if let Some(of_rank) = self.is_inside.get_mut(rank as usize) {
            *of_rank = is_inside;
        }
    }

    /// Whether a rank has connected and has not finalized.
    pub(crate) fn is_inside(&self, rank: usize) -> bool {
        self.is_inside.get(rank).is_some_and(|is_inside| *is_inside)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The library is not finalized: the process ends now, and a rank may be connected still.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(folder)
}

/// Up to the first 0.
fn text(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).expect("a text without 0")
}

fn check(what: &str, status: c_int) -> Result<(), String> {
    match status {
        SUCCESS | SUCCEEDED => Ok(()),
        status => Err(format!("{what} returned {status}")),
    }
}

/// What a function of the library makes of a list. It may hold bytes behind a 0 (compressed lists); lists of
/// one host are short.
fn generated(
    generate: unsafe extern "C" fn(*const c_char, *mut *mut c_char) -> c_int,
    list: &str,
) -> Result<CString, String> {
    let (input, mut made) = (text(list.as_bytes()), ptr::null_mut());
    // SAFETY: the input is a string; the library sets the pointer if it succeeds.
    check("PMIx_generate_regex", unsafe { generate(input.as_ptr(), &mut made) })?;
    if made.is_null() {
        return Err("PMIx_generate_regex made nothing".into());
    }
    // SAFETY: a string of the library. It is short, and left to the end of the process.
    Ok(unsafe { CStr::from_ptr(made) }.to_owned())
}

static CALLBACKS: Callbacks = Callbacks {
    connected: Some(connected),
    finalized: Some(finalized),
    abort: Some(abort),
    fence: Some(fence),
    unused: [0; 4],
    spawn: Some(spawn),
    later: [0; 55],
};

/// The rank of a process that the library names.
///
/// # Safety
/// `process` is null or valid.
unsafe fn rank_of(process: *const Process) -> u32 {
    // SAFETY: by the contract of this function.
    unsafe { process.as_ref() }.map_or(u32::MAX, |process| process.rank)
}

unsafe extern "C" fn connected(process: *const Process, _: *mut c_void, _: Done, _: *mut c_void) -> c_int {
    // SAFETY: the library names a process.
    Request::Connected { rank: unsafe { rank_of(process) } }.send();
    SUCCEEDED
}

unsafe extern "C" fn finalized(process: *const Process, _: *mut c_void, _: Done, _: *mut c_void) -> c_int {
    // SAFETY: the library names a process.
    Request::Finalized { rank: unsafe { rank_of(process) } }.send();
    SUCCEEDED
}

unsafe extern "C" fn abort(
    process: *const Process,
    _: *mut c_void,
    code: c_int,
    _: *const c_char,
    _: *mut Process,
    _: usize,
    _: Done,
    _: *mut c_void,
) -> c_int {
    // SAFETY: the library names a process.
    Request::Abort { rank: unsafe { rank_of(process) }, code }.send();
    SUCCEEDED
}

/// All local ranks have entered, and all ranks are local: what they have given goes back to them.
unsafe extern "C" fn fence(
    _: *const Process,
    _: usize,
    _: *const RawInfo,
    _: usize,
    data: *mut c_char,
    length: usize,
    done: FenceDone,
    cookie: *mut c_void,
) -> c_int {
    if let Some(done) = done {
        // SAFETY: the library's own function and cookie. The data are left to the end of the process: a job
        // has a few fences.
        unsafe { done(SUCCESS, data, length, cookie, ptr::null(), ptr::null_mut()) };
    }
    SUCCESS
}

unsafe extern "C" fn spawn(
    process: *const Process,
    _: *const RawInfo,
    _: usize,
    _: *const c_void,
    _: usize,
    _: *const c_void,
    _: *mut c_void,
) -> c_int {
    // SAFETY: the library names a process.
    Request::Spawn { rank: unsafe { rank_of(process) } }.send();
    NOT_SUPPORTED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_survive_the_pipe() {
        for request in [
            Request::Connected { rank: 0 },
            Request::Finalized { rank: 7 },
            Request::Abort { rank: 3, code: -1 },
            Request::Spawn { rank: u32::MAX },
        ] {
            assert_eq!(Request::from_bytes(&request.to_bytes()), request);
        }
    }
}
