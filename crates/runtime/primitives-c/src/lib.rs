//! The primitives for C. `include/evenkeel_primitives.h` documents each function.
//!
//! May use: the primitives, the fabric. Must never: let a panic out, or trust a length without a pointer.

use evenkeel_fabric::ucx::{UcxWire, UnconnectedWire, open};
use evenkeel_fabric::{NodeId, WordWrite};
use evenkeel_primitives::{Comparison, Domain, EventId, NodeSet, OperationError, Settings};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::time::{Duration, Instant};
use thiserror::Error;

const YES: c_int = 1;
const NO: c_int = 0;
const NODE_FAILED: c_int = -1;
const ERROR: c_int = -2;

type Clock = Box<dyn Fn() -> Duration + Send>;

/// `evenkeel_node`: a connected node.
pub struct Node(Domain<UcxWire, Clock>);

/// `evenkeel_failure`: a node that failed, and whether the operation is certain not to be carried out.
#[repr(C)]
pub struct Failure {
    node: u32,
    undone: c_int,
}

/// `evenkeel_word_write`: a value for a variable.
#[repr(C)]
pub struct CWordWrite {
    at: usize,
    value: u64,
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Keeps the reason for `evenkeel_last_error`.
fn keep_error(why: impl ToString) -> c_int {
    let text: Vec<u8> = why.to_string().into_bytes().into_iter().filter(|&byte| byte != 0).collect();
    LAST_ERROR.with(|last| *last.borrow_mut() = CString::new(text).unwrap_or_default());
    ERROR
}

/// The array at `start`.
///
/// # Safety
/// `start` must point to `count` values, or `count` must be 0.
unsafe fn slice<'a, T>(start: *const T, count: usize) -> Result<&'a [T], &'static str> {
    match (start.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err("a null pointer was given for an array that is not empty"),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(start, count) }),
    }
}

fn failed(error: &OperationError, to: *mut Failure) -> c_int {
    if !to.is_null() {
        // SAFETY: the header asks for a place for a failure, or null.
        unsafe { to.write(Failure { node: error.node.0, undone: c_int::from(error.undone) }) };
    }
    NODE_FAILED
}

fn answer(held: bool) -> c_int {
    if held { YES } else { NO }
}

fn set_of(nodes: &[u32]) -> NodeSet {
    nodes.iter().map(|&node| NodeId(node)).collect()
}

/// An argument of a call that cannot be meant.
#[derive(Debug, Error)]
enum ArgumentError {
    #[error("{0} is no event: they are numbered from 0 to {max}", max = u32::MAX)]
    Event(i64),
    #[error("{length} bytes at {at} do not lie within the {bytes} bytes of global memory")]
    Range { at: usize, length: usize, bytes: usize },
}

fn event(number: i64) -> Result<Option<EventId>, ArgumentError> {
    match number {
        -1 => Ok(None),
        _ => u32::try_from(number)
            .map(|number| Some(EventId(number)))
            .map_err(|_| ArgumentError::Event(number)),
    }
}

fn check_range(node: &Node, at: usize, length: usize) -> Result<(), ArgumentError> {
    let bytes = node.0.memory_bytes();
    match at.checked_add(length) {
        Some(end) if end <= bytes => Ok(()),
        _ => Err(ArgumentError::Range { at, length, bytes }),
    }
}

/// Makes a node's end that does not know the other nodes yet.
///
/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn evenkeel_open(
    nodes: u32,
    memory_bytes: usize,
    unconnected: *mut *mut UnconnectedWire,
) -> c_int {
    match open(nodes as usize, memory_bytes, &[]) {
        // SAFETY: the header asks for a place for a pointer.
        Ok(end) => unsafe {
            unconnected.write(Box::into_raw(Box::new(end)));
            YES
        },
        Err(error) => keep_error(error),
    }
}

/// The address of a node that is not connected yet.
///
/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn evenkeel_address(
    unconnected: *const UnconnectedWire,
    length: *mut usize,
) -> *const c_void {
    // SAFETY: from `evenkeel_open`, and a place for a length.
    unsafe {
        let address = (*unconnected).address();
        length.write(address.len());
        address.as_ptr().cast()
    }
}

/// Connects a node to the others.
///
/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn evenkeel_connect(
    unconnected: *mut UnconnectedWire,
    node: u32,
    nodes: u32,
    addresses: *const *const u8,
    lengths: *const usize,
    limit_ms: u64,
    connected: *mut *mut Node,
) -> c_int {
    // SAFETY: from `evenkeel_open`, and used for the last time; `nodes` addresses of the given lengths.
    let (unconnected, addresses) = unsafe {
        let unconnected = Box::from_raw(unconnected);
        let (Ok(starts), Ok(lengths)) = (slice(addresses, nodes as usize), slice(lengths, nodes as usize))
        else {
            return keep_error("addresses and their lengths are needed");
        };
        let copy = |(&start, &length): (&*const u8, &usize)| slice(start, length).map(<[u8]>::to_vec);
        (unconnected, starts.iter().zip(lengths).map(copy).collect::<Result<Vec<_>, _>>())
    };
    let wire = match addresses.map_err(str::to_string).and_then(|addresses| {
        unconnected.connect(NodeId(node), &addresses).map_err(|error| error.to_string())
    }) {
        Ok(wire) => wire,
        Err(why) => return keep_error(why),
    };
    let mut settings = Settings::default();
    if limit_ms > 0 {
        settings.limit = Duration::from_millis(limit_ms);
    }
    let start = Instant::now();
    let clock: Clock = Box::new(move || start.elapsed());
    // SAFETY: the header asks for a place for a pointer.
    unsafe { connected.write(Box::into_raw(Box::new(Node(Domain::new(wire, settings, clock))))) };
    YES
}

/// Closes a node.
///
/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn evenkeel_close(node: *mut Node) {
    // SAFETY: from `evenkeel_connect`, and used for the last time.
    drop(unsafe { Box::from_raw(node) });
}

/// Writes a block on all nodes of a set, and signals an event there.
///
/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn evenkeel_xfer_and_signal(
    node: *mut Node,
    set: *const u32,
    count: usize,
    at: usize,
    bytes: *const u8,
    length: usize,
    local: i64,
    remote: i64,
) -> c_int {
    // SAFETY: from `evenkeel_connect`; arrays of the given lengths.
    let (node, set, bytes) = unsafe { (&mut *node, slice(set, count), slice(bytes, length)) };
    match (set, bytes, event(local), event(remote)) {
        (Ok(set), Ok(bytes), Ok(local), Ok(remote)) => {
            node.0.xfer_and_signal(&set_of(set), at, bytes, local, remote).map_or_else(keep_error, |()| YES)
        }
        (Err(why), ..) | (_, Err(why), ..) => keep_error(why),
        (.., Err(why), _) | (.., Err(why)) => keep_error(why),
    }
}

/// Takes a signal of an event of this node.
///
/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn evenkeel_test_event(
    node: *mut Node,
    event: u32,
    longest_ms: u64,
    failure: *mut Failure,
) -> c_int {
    // SAFETY: from `evenkeel_connect`.
    let node = unsafe { &mut *node };
    node.0
        .wait_event(EventId(event), Duration::from_millis(longest_ms))
        .map_or_else(|error| failed(&error, failure), answer)
}

/// Compares a variable of all nodes of a set; if the comparison holds, writes a variable on all.
///
/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn evenkeel_compare_and_write(
    node: *mut Node,
    set: *const u32,
    count: usize,
    variable: usize,
    comparison: c_int,
    value: u64,
    write: *const CWordWrite,
    failure: *mut Failure,
) -> c_int {
    // SAFETY: from `evenkeel_connect`; an array of the given length; a write or null.
    let (node, set, write) = unsafe { (&mut *node, slice(set, count), write.as_ref()) };
    let Some(&comparison) = usize::try_from(comparison).ok().and_then(|index| Comparison::ALL.get(index))
    else {
        return keep_error(format!("{comparison} is none of the six comparisons"));
    };
    let set = match set {
        Ok(set) => set_of(set),
        Err(why) => return keep_error(why),
    };
    match node.0.compare_and_write(
        &set,
        variable,
        comparison,
        value,
        write.map(|write| WordWrite { at: write.at, value: write.value }),
    ) {
        Ok(Ok(held)) => answer(held),
        Ok(Err(error)) => failed(&error, failure),
        Err(error) => keep_error(error),
    }
}

/// Reads this node's own memory.
///
/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn evenkeel_read(
    node: *mut Node,
    at: usize,
    to: *mut u8,
    length: usize,
    longest_ms: u64,
) -> c_int {
    // SAFETY: from `evenkeel_connect`.
    let node = unsafe { &mut *node };
    if let Err(why) = check_range(node, at, length) {
        return keep_error(why);
    }
    match node.0.read(at, length, Duration::from_millis(longest_ms)) {
        // SAFETY: the header asks for room for `length` bytes.
        Some(bytes) => unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, length);
            YES
        },
        None => NO,
    }
}

/// Sets a variable of this node.
///
/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn evenkeel_set(node: *mut Node, at: usize, value: u64) -> c_int {
    // SAFETY: from `evenkeel_connect`.
    let node = unsafe { &mut *node };
    match check_range(node, at, 8) {
        Err(why) => keep_error(why),
        Ok(()) if at % 8 != 0 => keep_error(format!("a variable lies at a multiple of 8, and {at} is none")),
        Ok(()) => {
            node.0.set(at, value);
            YES
        }
    }
}

/// Serves the operations of other nodes.
///
/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn evenkeel_serve(node: *mut Node, longest_ms: u64) -> c_int {
    // SAFETY: from `evenkeel_connect`.
    unsafe { &mut *node }.0.serve(Duration::from_millis(longest_ms));
    YES
}

/// Declares a node dead.
///
/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn evenkeel_evict(node: *mut Node, dead: u32) -> c_int {
    // SAFETY: from `evenkeel_connect`.
    unsafe { &mut *node }.0.evict(NodeId(dead));
    YES
}

/// Why the last call of this thread that returned an error did so.
#[unsafe(no_mangle)]
pub extern "C" fn evenkeel_last_error() -> *const c_char {
    LAST_ERROR.with(|last| last.borrow().as_ptr())
}
