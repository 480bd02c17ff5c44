//! Messages, for C.

use evenkeel_engine::communicator::node::Comm;
use evenkeel_engine::job::node::{self, world};
use evenkeel_engine::message::matching::Pattern;
use evenkeel_engine::message::request::Matched;
use evenkeel_engine::message::visibility::{Look, Strength};
use evenkeel_engine::message::waiting::{self, Beside};
use evenkeel_engine::message::{self, Message, calls};
use evenkeel_options as options;
use std::ffi::{c_int, c_void};

#[unsafe(no_mangle)]
extern "C" fn ek_messages_wanted() -> c_int {
    let wanted = match options::MESSAGES.get().as_str() {
        "auto" | "own" => true,
        "host" => false,
        other => {
            node::note(&format!(
                "{}={other} is none of {}; messages are the host library's",
                options::MESSAGES.env,
                options::MESSAGES.values
            ));
            false
        }
    };
    (wanted && world().is_some_and(|w| !w.threaded && w.ranks > 1 && w.channels().is_some())) as c_int
}

fn strength() -> Strength {
    match options::ORDERING.get().as_str() {
        "weak" => Strength::Weak,
        "strong" => Strength::Strong,
        other => {
            node::note(&format!(
                "{}={other} is none of {}; ordering is strong",
                options::ORDERING.env,
                options::ORDERING.values
            ));
            Strength::Strong
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn ek_messages_open() {
    if let Some((world, channels)) = world().and_then(|w| Some((w, w.channels()?))) {
        message::open(world, &channels, strength());
    }
}

#[unsafe(no_mangle)]
extern "C" fn ek_messages_close() {
    message::close();
}

fn pattern(source: c_int, tag: c_int) -> Pattern {
    Pattern { source: usize::try_from(source).ok(), tag: (tag >= 0).then_some(tag) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_message_send(
    comm: *const Comm,
    dest: c_int,
    tag: c_int,
    synchronous: c_int,
    data: *const u8,
    bytes: usize,
) -> *mut Message {
    // SAFETY: a served communicator and data by the interface.
    unsafe { calls::send(&*comm, dest as usize, tag, synchronous != 0, data, bytes) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_message_receive(
    comm: *const Comm,
    source: c_int,
    tag: c_int,
    buffer: *mut u8,
    capacity: usize,
) -> *mut Message {
    // SAFETY: a served communicator and a buffer by the interface.
    unsafe { calls::receive(&*comm, pattern(source, tag), buffer, capacity) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_message_receive_matched(
    comm: *const Comm,
    matched: *mut Matched,
    buffer: *mut u8,
    capacity: usize,
) -> *mut Message {
    // SAFETY: by the interface; `matched` comes from `ek_message_probe` and is used once.
    unsafe { calls::receive_matched(&*comm, Box::from_raw(matched), buffer, capacity) }
}

/// `struct ek_probed`.
#[repr(C)]
struct Found {
    source: c_int,
    tag: c_int,
    bytes: usize,
    matched: *mut c_void,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_message_probe(
    comm: *const Comm,
    source: c_int,
    tag: c_int,
    take: c_int,
    found: *mut Found,
) -> c_int {
    // SAFETY: a served communicator by the interface.
    let Some(probed) = calls::probe(unsafe { &*comm }, pattern(source, tag), take != 0) else { return 0 };
    let matched = probed.message.map_or(std::ptr::null_mut(), |m| Box::into_raw(m).cast());
    // SAFETY: a place for the answer, by the interface.
    unsafe {
        *found = Found { source: probed.source as c_int, tag: probed.tag, bytes: probed.bytes, matched }
    };
    1
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_message_complete(message: *const Message, choose: c_int) -> c_int {
    // SAFETY: alive by the interface.
    unsafe { &*message }.is_complete(if choose != 0 { Look::Choose } else { Look::Wait }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_message_cancel(receive: *mut Message) -> c_int {
    // SAFETY: alive by the interface.
    unsafe { calls::cancel(receive) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_message_free(message: *mut Message) {
    // SAFETY: by the interface.
    unsafe { calls::free(message) };
}

#[unsafe(no_mangle)]
extern "C" fn ek_messages_progress() -> usize {
    message::progress()
}

#[unsafe(no_mangle)]
extern "C" fn ek_messages_incomplete() -> c_int {
    message::is_busy() as c_int
}

#[unsafe(no_mangle)]
extern "C" fn ek_messages_sending() -> c_int {
    message::is_sending() as c_int
}

#[unsafe(no_mangle)]
extern "C" fn ek_message_idle() {
    waiting::idle();
}

#[unsafe(no_mangle)]
extern "C" fn ek_message_wait_begin() {
    waiting::begin();
}

#[unsafe(no_mangle)]
extern "C" fn ek_message_pause(beside: c_int) {
    waiting::pause(match beside {
        0 => Beside::Nothing,
        1 => Beside::Barrier,
        _ => Beside::Host,
    });
}

#[unsafe(no_mangle)]
extern "C" fn ek_message_wait_end() {
    waiting::end();
}

const _: () = assert!(std::mem::offset_of!(Message, done) == 18, "struct ek_message");
