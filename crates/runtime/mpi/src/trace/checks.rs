//! What calls pass and get (`--trace-level checks`): a file of its own beside the trace and the times.
//!
//! One thread at a time calls these functions, as those of the times.

use super::checked_call::{CheckedCall, CheckedFunction};
use super::code_places::CodePlaces;
use super::in_flight::{Change, Elements, InFlight, TypeBytes};
use super::state::say;
use super::ticks;
use super::times::{ByHandle, start_of};
use super::times_file::TimesFile;
use crate::text;
use evenkeel_layout::Layout;
use evenkeel_options as options;
use evenkeel_trace::checks::format::{MAGIC, MOST_RUNS, VERSION};
use evenkeel_trace::checks::recorder::{Recorder, TypeFacts};
use evenkeel_trace::format::Ending;
use evenkeel_trace::times::format::header_of;
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ffi::c_char;
use std::path::Path;
use std::sync::Arc;

/// In place of an address: MPI_IN_PLACE.
pub const EK_CHECKS_IN_PLACE: i64 = -1;

const _: () = assert!(EK_CHECKS_IN_PLACE == evenkeel_trace::checks::format::IN_PLACE);

/// A communicator, as far as the lengths of its arguments depend on it.
#[derive(Clone, Copy)]
struct Members {
    rank: i32,
    /// Of the remote group, if there is one.
    count: i32,
    is_inter: bool,
}

struct Checks {
    recorder: Recorder<TimesFile>,
    rank: u32,
    functions: ByHandle<u32>,
    places: CodePlaces,
    members: ByHandle<Members>,
    types: ByHandle<Option<Arc<TypeBytes>>>,
    named: HashMap<(String, u64), u32>,
    in_flight: InFlight,
    told: bool,
}

struct OneThread<T>(UnsafeCell<T>);

// SAFETY: one thread at a time calls the functions here, by the interface.
unsafe impl<T> Sync for OneThread<T> {}

static CHECKS: OneThread<Option<Box<Checks>>> = OneThread(UnsafeCell::new(None));

fn checks() -> &'static mut Option<Box<Checks>> {
    // SAFETY: one thread calls, and none of the functions here calls another one while it holds this.
    unsafe { &mut *CHECKS.0.get() }
}

/// Makes this rank's file. Returns false if there is none; a sentence has been printed if one is wanted.
#[unsafe(no_mangle)]
pub extern "C" fn ek_checks_open(rank: u32, ranks: u32, run: u64) -> bool {
    let folder = options::TRACE.get();
    if options::TRACE_LEVEL.get() != "checks" || folder.is_empty() {
        return false;
    }
    let path = Path::new(&folder).join(format!("rank-{rank}.checks"));
    let now = ticks::moment();
    match TimesFile::with_header(&path, &header_of(MAGIC, VERSION, &start_of(rank, ranks, run, now, now))) {
        Ok(file) => {
            *checks() = Some(Box::new(Checks {
                recorder: Recorder::new(file),
                rank,
                functions: HashMap::default(),
                places: CodePlaces::default(),
                members: HashMap::default(),
                types: HashMap::default(),
                named: HashMap::default(),
                in_flight: InFlight::default(),
                told: false,
            }));
            true
        }
        Err(error) => {
            say(
                rank,
                &format!(
                    "what calls pass cannot be written to {} ({error}), so this rank's calls are not \
                     checked; give a folder that all ranks can write, and that has no trace yet",
                    path.display()
                ),
            );
            false
        }
    }
}

/// Records a call that begins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_checks_begin(call: *const CheckedCall) {
    let Some(checks) = checks() else { return };
    // SAFETY: a call and its words, by the interface.
    let (call, words) = unsafe { (&*call, std::slice::from_raw_parts((*call).words, (*call).count)) };
    let function = checks.function(call.function);
    let site = match call.script.checked_sub(1) {
        Some(script) => script,
        None => checks.places.number(call.site, &mut checks.recorder),
    };
    checks.recorder.begin(call.thread, function, site, words);
    checks.look_for_room();
}

/// Records that it is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_checks_end(thread: u32, has_failed: bool, words: *const i64, count: usize) {
    let Some(checks) = checks() else { return };
    // SAFETY: so many words, by the interface.
    let words = unsafe { std::slice::from_raw_parts(words, count) };
    checks.recorder.end(thread, has_failed, words);
    checks.look_for_room();
}

impl Checks {
    fn function(&mut self, function: *const CheckedFunction) -> u32 {
        if let Some(&known) = self.functions.get(&(function as usize)) {
            return known;
        }
        // SAFETY: a function with three texts, by the interface.
        let [name, arguments, results] = unsafe {
            let f = &*function;
            [text::string(f.name), text::string(f.arguments), text::string(f.results)]
        };
        let number = self.recorder.function(&name, &arguments, &results);
        self.functions.insert(function as usize, number);
        number
    }

    fn look_for_room(&mut self) {
        if !self.recorder.is_full() || self.told {
            return;
        }
        self.told = true;
        let file = self.recorder.store();
        let why = file.error().map_or_else(String::new, |error| format!(" ({error})"));
        let (path, calls) = (file.path().display(), file.calls());
        say(
            self.rank,
            &format!(
                "the arguments of calls {path} end after call {calls}, because the file cannot grow{why}; \
                 the run goes on without them"
            ),
        );
    }

    fn elements(&self, address: usize, count: i64, datatype: usize) -> Option<Elements> {
        let of = self.types.get(&datatype)?.clone()?;
        Some(Elements { address, count: u64::try_from(count).ok()?, of })
    }
}

/// The number of a place in a script, for ek_checked_call; 0: there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_checks_script(file: *const c_char, line: u32, function: *const c_char) -> u32 {
    let Some(checks) = checks() else { return 0 };
    // SAFETY: terminated strings, by the interface.
    let (file, function) = unsafe { (text::string(file), text::string(function)) };
    checks.places.script(file, line, function, &mut checks.recorder) + 1
}

/// Says that a communicator has come to be. The ranks are those of the world; an intracommunicator has no
/// remote ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_checks_define_comm(
    handle: usize,
    rank: i32,
    members: *const i32,
    count: i32,
    remote: *const i32,
    remote_count: i32,
) {
    let Some(checks) = checks() else { return };
    let no_ranks = std::ptr::NonNull::dangling().as_ptr();
    // SAFETY: so many ranks, by the interface.
    let (members, remote) = unsafe {
        (
            text::slice(if members.is_null() { no_ranks } else { members.cast_mut() }, count),
            text::slice(if remote.is_null() { no_ranks } else { remote.cast_mut() }, remote_count),
        )
    };
    checks.recorder.comm(handle as i64, members, remote);
    let is_inter = !remote.is_empty();
    let count = if is_inter { remote_count } else { count };
    checks.members.insert(handle, Members { rank, count, is_inter });
}

/// How many ranks a communicator has, or its remote group; 0: that is not known.
#[unsafe(no_mangle)]
pub extern "C" fn ek_checks_comm_size(handle: usize) -> i32 {
    checks().as_ref().and_then(|checks| checks.members.get(&handle)).map_or(0, |members| members.count)
}

/// The same if this process is the root, and otherwise 0. `is_root_group`: the root is MPI_ROOT.
#[unsafe(no_mangle)]
pub extern "C" fn ek_checks_root_size(handle: usize, root: i32, is_root_group: bool) -> i32 {
    let Some(members) = checks().as_ref().and_then(|checks| checks.members.get(&handle)) else { return 0 };
    let is_root = if members.is_inter { is_root_group } else { root == members.rank };
    if is_root { members.count } else { 0 }
}

/// The number of a predefined type of elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_checks_named_element(name: *const c_char, bytes: u64) -> u32 {
    let Some(checks) = checks() else { return 0 };
    // SAFETY: a terminated string, by the interface.
    let key = (unsafe { text::string(name) }, bytes);
    if let Some(&known) = checks.named.get(&key) {
        return known;
    }
    let number = checks.recorder.named_element(&key.0, bytes);
    checks.named.insert(key, number);
    number
}

/// The number of a sequence of elements: of each part how often it comes, and which elements it has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_checks_sequence(times: *const u64, elements: *const u32, count: usize) -> u32 {
    let Some(checks) = checks() else { return 0 };
    // SAFETY: arrays of so many numbers, by the interface.
    let parts = unsafe {
        let pair = |i: usize| (*times.add(i), *elements.add(i));
        (0..count).map(pair).collect::<Vec<_>>()
    };
    checks.recorder.sequence(&parts)
}

/// Says that a datatype may be used. `has_elements`: their number is known. `contiguous`: elements have no
/// holes; otherwise `map` tells where their bytes lie, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_checks_define_type(
    handle: usize,
    has_elements: bool,
    elements: u32,
    size: u64,
    extent: i64,
    contiguous: bool,
    map: *const Layout,
) {
    let Some(checks) = checks() else { return };
    // SAFETY: NULL or a map that is held, by the interface.
    let map = unsafe { map.as_ref() };
    let runs = if contiguous {
        Some(vec![(0, size)])
    } else {
        map.and_then(|map| map.run_list(MOST_RUNS)).map(|runs| {
            let numbers = |(at, length): (isize, usize)| (at as i64, length as u64);
            runs.into_iter().map(numbers).collect::<Vec<_>>()
        })
    };
    let facts = TypeFacts {
        handle: handle as i64,
        elements: has_elements.then_some(elements),
        size,
        extent,
        runs: runs.clone(),
    };
    checks.recorder.datatype(&facts);
    checks.types.insert(handle, runs.map(|runs| Arc::new(TypeBytes { extent, runs })));
}

/// Says that the library has a handle of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_checks_constant(name: *const c_char, handle: usize) {
    let Some(checks) = checks() else { return };
    // SAFETY: a terminated string, by the interface.
    checks.recorder.constant(&unsafe { text::string(name) }, handle as i64);
}

/// Says that a request sends these elements: at once, or a persistent one when it is started.
#[unsafe(no_mangle)]
pub extern "C" fn ek_checks_sends(
    request: usize,
    buffer: usize,
    count: i64,
    datatype: usize,
    is_persistent: bool,
) {
    let Some(checks) = checks() else { return };
    if let Some(elements) = checks.elements(buffer, count, datatype) {
        checks.in_flight.made(request, elements, is_persistent);
    }
}

/// Says that a persistent request was started.
#[unsafe(no_mangle)]
pub extern "C" fn ek_checks_started(request: usize) {
    if let Some(checks) = checks() {
        checks.in_flight.started(request);
    }
}

/// Says that the program has learned that a request is complete.
#[unsafe(no_mangle)]
pub extern "C" fn ek_checks_complete(request: usize) {
    let Some(checks) = checks() else { return };
    if let Some(change) = checks.in_flight.complete(request) {
        checks.recorder.changed(request as i64, change == Change::Gone);
    }
}

/// Says that the program has freed a request.
#[unsafe(no_mangle)]
pub extern "C" fn ek_checks_forget_request(request: usize) {
    if let Some(checks) = checks() {
        checks.in_flight.forget(request);
    }
}

/// Ends the file, after MPI_Finalize.
#[unsafe(no_mangle)]
pub extern "C" fn ek_checks_finish() {
    let Some(checks) = checks().take() else { return };
    let ending = if checks.recorder.is_full() { Ending::NoRoom } else { Ending::Finalized };
    checks.recorder.into_store().close(ending);
}

/// Forgets the file, in a child that was forked.
#[unsafe(no_mangle)]
pub extern "C" fn ek_checks_forget() {
    std::mem::forget(checks().take());
}
