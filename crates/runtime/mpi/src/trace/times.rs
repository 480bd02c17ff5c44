//! The times of calls (`--trace-level times`): a file of its own beside the trace.
//!
//! One thread at a time calls these functions; the shim has a lock where the program has several. Where a
//! function has the number of a communicator, 0 is none.

use super::code_places::CodePlaces;
use super::state::say;
use super::ticks;
use super::timed_call::{OpenCall, TimedCall, TimedShape};
use super::times_file::TimesFile;
use crate::text;
use evenkeel_options as options;
use evenkeel_trace::format::Ending;
use evenkeel_trace::times::format::{Moment, Start, Ticks};
use evenkeel_trace::times::recorder::Recorder;
use evenkeel_trace::times::shape::{ANY, ANY_SOURCE, ANY_TAG, Envelope, FAILED, NO_PEER, NO_TAG, PROC_NULL};
use evenkeel_trace::times::shape::{ROOT, Role, Shape};
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};

/// No rank takes part by name.
pub const EK_TIMES_NO_PEER: i32 = -2;
/// MPI_PROC_NULL.
pub const EK_TIMES_PROC_NULL: i32 = -1;
/// MPI_ANY_SOURCE, or MPI_ANY_TAG.
pub const EK_TIMES_ANY: i32 = -3;
/// MPI_ROOT.
pub const EK_TIMES_ROOT: i32 = -4;
/// The call has no tag.
pub const EK_TIMES_NO_TAG: i32 = -2147483648;
/// The call has failed.
pub const EK_TIMES_FAILED: u32 = 1;
/// The receive named no source.
pub const EK_TIMES_ANY_SOURCE: u32 = 2;
/// The receive named no tag.
pub const EK_TIMES_ANY_TAG: u32 = 4;
/// It has nothing to do with messages.
pub const EK_TIMES_OTHER: u32 = 0;
/// It sends one.
pub const EK_TIMES_SEND: u32 = 1;
/// It has taken one.
pub const EK_TIMES_RECEIVE: u32 = 2;
/// It has sent one, and taken one.
pub const EK_TIMES_SEND_RECEIVE: u32 = 3;
/// It has posted a receive.
pub const EK_TIMES_POST: u32 = 4;
/// It has sent one, and posted a receive.
pub const EK_TIMES_SEND_POST: u32 = 5;
/// All members of the communicator make it.
pub const EK_TIMES_COLLECTIVE: u32 = 6;

const _: () = {
    assert!(EK_TIMES_NO_PEER == NO_PEER && EK_TIMES_PROC_NULL == PROC_NULL && EK_TIMES_ROOT == ROOT);
    assert!(EK_TIMES_ANY == ANY && EK_TIMES_NO_TAG == NO_TAG);
    assert!(EK_TIMES_FAILED == FAILED as u32 && EK_TIMES_ANY_SOURCE == ANY_SOURCE as u32);
    assert!(EK_TIMES_ANY_TAG == ANY_TAG as u32);
    assert!(EK_TIMES_OTHER == Role::Other as u32 && EK_TIMES_SEND == Role::Send as u32);
    assert!(EK_TIMES_RECEIVE == Role::Receive as u32 && EK_TIMES_SEND_RECEIVE == Role::SendReceive as u32);
    assert!(EK_TIMES_POST == Role::Post as u32 && EK_TIMES_SEND_POST == Role::SendPost as u32);
    assert!(EK_TIMES_COLLECTIVE == Role::Collective as u32);
};

/// Handles differ in all of their bits, or in the lowest.
#[derive(Default)]
pub(super) struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("handles are numbers");
    }
    fn write_usize(&mut self, handle: usize) {
        self.0 = (handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}

pub(super) type ByHandle<T> = HashMap<usize, T, BuildHasherDefault<HandleHasher>>;

/// A persistent request of a message.
struct Persistent {
    comm: u32,
    sends: bool,
    message: Envelope,
}

/// The clocks are read once in so many ticks, about a second.
const TICKS_BETWEEN_MOMENTS: u64 = 1 << 31;

struct Times {
    recorder: Recorder<TimesFile>,
    rank: u32,
    /// Raised when handles may get another meaning.
    generation: u64,
    next_moment: u64,
    functions: ByHandle<u32>,
    places: CodePlaces,
    comms: ByHandle<u32>,
    comm_count: u32,
    /// Receives that are posted.
    receives: ByHandle<u64>,
    persistent: ByHandle<Persistent>,
    told: bool,
}

struct OneThread<T>(UnsafeCell<T>);

// SAFETY: one thread at a time calls the functions here, by the interface.
unsafe impl<T> Sync for OneThread<T> {}

static TIMES: OneThread<Option<Box<Times>>> = OneThread(UnsafeCell::new(None));
static BEFORE_INIT: OneThread<Moment> = OneThread(UnsafeCell::new(Moment { ticks: 0, ns: 0 }));

fn times() -> &'static mut Option<Box<Times>> {
    // SAFETY: one thread calls, and none of the functions here calls another one while it holds this.
    unsafe { &mut *TIMES.0.get() }
}

/// The folder that gets the times, if they are wanted: in a repetition that of `--trace` as well, which has
/// no other use then.
fn folder() -> Option<String> {
    let folder = options::TRACE.get();
    let has_times = matches!(options::TRACE_LEVEL.get().as_str(), "times" | "checks");
    (has_times && !folder.is_empty()).then_some(folder)
}

fn file_of(folder: &str, rank: u32) -> PathBuf {
    Path::new(folder).join(format!("rank-{rank}.times"))
}

/// Whether times are wanted. Reads the clocks the first time: to be called before MPI_Init.
#[unsafe(no_mangle)]
pub extern "C" fn ek_times_wanted() -> bool {
    let wanted = folder().is_some();
    if wanted {
        // SAFETY: as in `times`.
        let before = unsafe { &mut *BEFORE_INIT.0.get() };
        if *before == Moment::default() {
            *before = ticks::moment();
        }
    }
    wanted
}

/// Whether times are those of the processor's time-stamp counter, or else of CLOCK_MONOTONIC.
#[unsafe(no_mangle)]
pub extern "C" fn ek_times_use_counter() -> bool {
    ticks::kind() == Ticks::Counter
}

/// What is known of this rank at the start.
pub(super) fn start_of(rank: u32, ranks: u32, run: u64, before_init: Moment, opened: Moment) -> Start {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let kernel = |name: &str| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
    let boot: String = kernel("random/boot_id").chars().filter(char::is_ascii_hexdigit).take(16).collect();
    Start {
        ranks,
        rank,
        ticks: ticks::kind(),
        run,
        host: u64::from_str_radix(&boot, 16).unwrap_or(0),
        before_init,
        opened,
        realtime_ns: now.map_or(0, |now| now.as_nanos() as u64),
        process: std::process::id(),
        host_name: kernel("hostname").trim().to_string(),
    }
}

/// Makes this rank's file. Returns where to say which call the rank is in, or NULL: there is no file, and a
/// sentence has been printed if one is wanted. `run`: see ek_trace_run.
#[unsafe(no_mangle)]
pub extern "C" fn ek_times_open(rank: u32, ranks: u32, run: u64) -> *mut OpenCall {
    let Some(folder) = folder() else { return std::ptr::null_mut() };
    let _ = std::fs::create_dir_all(&folder); // or the file cannot be made either
    let path = file_of(&folder, rank);
    let opened = ticks::moment();
    // SAFETY: as in `times`.
    let mut before_init = unsafe { *BEFORE_INIT.0.get() };
    if before_init == Moment::default() {
        before_init = opened;
    }
    let start = start_of(rank, ranks, run, before_init, opened);
    match TimesFile::create(&path, &start) {
        Ok(file) => {
            let open = file.open_call();
            *times() = Some(Box::new(Times {
                recorder: Recorder::new(file, before_init.ticks),
                rank,
                generation: 0,
                next_moment: opened.ticks.wrapping_add(TICKS_BETWEEN_MOMENTS),
                functions: HashMap::default(),
                places: CodePlaces::default(),
                comms: HashMap::default(),
                comm_count: 0,
                receives: HashMap::default(),
                persistent: HashMap::default(),
                told: false,
            }));
            open
        }
        Err(error) => {
            say(
                rank,
                &format!(
                    "the times {} cannot be written ({error}), so this rank's calls are not timed; give a \
                     folder that all ranks can write, and that has no trace yet",
                    path.display()
                ),
            );
            std::ptr::null_mut()
        }
    }
}

/// Records a call that is over at this tick. Returns whether its shape is known; if it is not,
/// ek_times_describe is to be called instead.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_times_call(call: *const TimedCall, exit: u64) -> bool {
    let Some(times) = times() else { return true };
    // SAFETY: a call, by the interface.
    let call = unsafe { &*call };
    let hash = call.hash(times.generation);
    let Some(shape) = times.recorder.find(hash) else { return false };
    times.before(call);
    times.recorder.call(call.thread, shape, call.entry, exit);
    times.after(call, exit);
    true
}

/// Records a call of a shape that is not known yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_times_describe(call: *const TimedCall, exit: u64, shape: *const TimedShape) {
    let Some(times) = times() else { return };
    // SAFETY: a call and its description, by the interface.
    let (call, known) = unsafe { (&*call, &*shape) };
    let shape = times.shape(call, known);
    let number = times.recorder.define(call.hash(times.generation), &shape);
    times.before(call);
    times.recorder.call(call.thread, number, call.entry, exit);
    times.after(call, exit);
}

fn bytes_of(count: i64) -> Option<u64> {
    u64::try_from(count).ok()
}

impl Times {
    fn shape(&mut self, call: &TimedCall, known: &TimedShape) -> Shape {
        let next = self.functions.len() as u32;
        let function = *self.functions.entry(call.function as usize).or_insert(next);
        if function == next {
            // SAFETY: a name with at least one zero at the end, by the interface.
            let name = unsafe { CStr::from_ptr((*call.function).name.as_ptr()) };
            self.recorder.function(&name.to_string_lossy());
        }
        let second =
            Envelope { peer: call.second_peer, tag: call.second_tag, bytes: bytes_of(call.second_bytes) };
        Shape {
            function,
            site: self.places.number(call.site, &mut self.recorder),
            comm: known.comm.checked_sub(1),
            role: Role::of(call.role as u8).unwrap_or_default(),
            marks: call.marks as u8,
            first: Envelope { peer: call.peer, tag: call.tag, bytes: bytes_of(known.bytes) },
            second: Some(second),
        }
    }

    /// What the call has done to requests.
    #[inline]
    fn before(&mut self, call: &TimedCall) {
        if call.request_count > 0 {
            self.note_requests(call);
        }
    }

    fn note_requests(&mut self, call: &TimedCall) {
        // SAFETY: so many requests, by the interface.
        let requests = unsafe { text::slice(call.requests, call.request_count) };
        for request in requests.iter().filter(|request| request.handle != 0) {
            if call.starts {
                let Some(known) = self.persistent.get(&request.handle) else { continue };
                if let Some(number) = self.recorder.started(known.comm, known.sends, &known.message) {
                    self.receives.insert(request.handle, number);
                }
            } else if let Some(number) = request.receive.checked_sub(1) {
                if self.receives.get(&request.handle) == Some(&number) {
                    self.receives.remove(&request.handle);
                }
                if request.source != NO_PEER {
                    let bytes = bytes_of(request.bytes);
                    let message = Envelope { peer: request.source, tag: request.tag, bytes };
                    self.recorder.took(number, &message);
                }
            }
        }
    }

    #[inline]
    fn after(&mut self, call: &TimedCall, exit: u64) {
        if Role::of(call.role as u8).is_some_and(Role::posts) && call.marks & EK_TIMES_FAILED == 0 {
            let number = self.recorder.post();
            if call.posted != 0 {
                self.receives.insert(call.posted, number);
            }
        }
        if exit >= self.next_moment {
            self.next_moment = exit + TICKS_BETWEEN_MOMENTS;
            if ticks::kind() == Ticks::Counter {
                self.recorder.clocks(ticks::moment());
            }
        }
        if self.recorder.is_full() && !self.told {
            self.tell();
        }
    }

    #[cold]
    fn tell(&mut self) {
        self.told = true;
        let file = self.recorder.store();
        let why = file.error().map_or_else(String::new, |error| format!(" ({error})"));
        let (path, calls) = (file.path().display(), file.calls());
        say(
            self.rank,
            &format!(
                "the times {path} end after call {calls}, because the file cannot grow{why}; the run goes on \
                 without them"
            ),
        );
    }
}

/// The number of a communicator, or 0: it has none yet.
#[unsafe(no_mangle)]
pub extern "C" fn ek_times_comm(handle: usize) -> u32 {
    times().as_ref().and_then(|times| times.comms.get(&handle).copied()).unwrap_or(0)
}

/// Gives a communicator the next number. The ranks are those of the world; an intracommunicator has no remote
/// ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_times_define_comm(
    handle: usize,
    members: *const i32,
    count: i32,
    remote: *const i32,
    remote_count: i32,
) -> u32 {
    let Some(times) = times() else { return 0 };
    // SAFETY: so many ranks, by the interface.
    let (members, remote) = unsafe { (text::slice(members, count), text::slice(remote, remote_count)) };
    times.recorder.comm(members, remote);
    times.comm_count += 1;
    times.comms.insert(handle, times.comm_count);
    times.comm_count
}

/// Says that the program has named a communicator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_times_name_comm(comm: u32, name: *const c_char) {
    let Some(times) = times() else { return };
    if let Some(number) = comm.checked_sub(1) {
        // SAFETY: a terminated string, by the interface.
        times.recorder.comm_name(number, &unsafe { text::string(name) });
    }
}

/// Says that a communicator was freed; 0: another handle that calls refer to, a datatype's.
#[unsafe(no_mangle)]
pub extern "C" fn ek_times_forget_handle(comm: usize) {
    let Some(times) = times() else { return };
    times.comms.remove(&comm);
    times.generation += 1;
}

/// Which receive is posted under this request: its number, from 1, or 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn ek_times_receive_of(request: usize) -> u64 {
    times().as_ref().and_then(|times| times.receives.get(&request)).map_or(0, |number| number + 1)
}

/// Says that the program has made a persistent request of a message.
#[unsafe(no_mangle)]
pub extern "C" fn ek_times_persistent(
    request: usize,
    comm: u32,
    sends: bool,
    peer: i32,
    tag: i32,
    bytes: i64,
) {
    let (Some(times), Some(comm)) = (times(), comm.checked_sub(1)) else { return };
    let message = Envelope { peer, tag, bytes: bytes_of(bytes) };
    times.persistent.insert(request, Persistent { comm, sends, message });
}

/// Says that the program has freed a request.
#[unsafe(no_mangle)]
pub extern "C" fn ek_times_forget_request(request: usize) {
    let Some(times) = times() else { return };
    times.receives.remove(&request);
    times.persistent.remove(&request);
}

/// Ends the file, after MPI_Finalize.
#[unsafe(no_mangle)]
pub extern "C" fn ek_times_finish() {
    let Some(mut times) = times().take() else { return };
    if ticks::kind() == Ticks::Counter {
        times.recorder.clocks(ticks::moment());
    }
    let ending = if times.recorder.is_full() { Ending::NoRoom } else { Ending::Finalized };
    times.recorder.into_store().close(ending);
}

/// Forgets the file, in a child that was forked.
#[unsafe(no_mangle)]
pub extern "C" fn ek_times_forget() {
    std::mem::forget(times().take());
}
