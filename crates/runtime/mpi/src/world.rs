//! The world, communicators and waiting, for C.

use evenkeel_engine::clock::Ticks;
use evenkeel_engine::communicator::node::{self as communicator, Comm};
use evenkeel_engine::job::bootstrap::Candidate;
use evenkeel_engine::job::node::{self, world};
use evenkeel_engine::job::process_info::Card;
use evenkeel_engine::wait::settings::Wait;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{Arc, Mutex};

/// The interface's number, `EK_INTERFACE`.
const INTERFACE: u32 = 4;

/// `struct ek_card`.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub struct PlainCard {
    card: Card,
    _rest: [u8; 96 - size_of::<Card>()],
}

static CANDIDATE: Mutex<Option<Candidate>> = Mutex::new(None);
/// What the shim said about itself: host MPI and shim.
pub static NAMES: Mutex<(String, String)> = Mutex::new((String::new(), String::new()));

/// # Safety
/// `text` must be null or a terminated string.
unsafe fn string(text: *const c_char) -> String {
    // SAFETY: the caller's promise.
    if text.is_null() {
        String::new()
    } else {
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_world_begin(
    mine: *mut u8,
    mpi: *const c_char,
    shim: *const c_char,
    threaded: c_int,
) -> c_int {
    // SAFETY: terminated strings, and room for a card, by the interface.
    unsafe {
        *communicator::lock(&NAMES) = (string(mpi), string(shim));
        let candidate = Candidate::begin(INTERFACE, threaded != 0);
        let plain = PlainCard { card: candidate.card(), _rest: [0; 96 - size_of::<Card>()] };
        mine.cast::<PlainCard>().write_unaligned(plain);
        let enabled = candidate.is_enabled();
        *communicator::lock(&CANDIDATE) = Some(candidate);
        enabled as c_int
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_world_join(cards: *const u8, ranks: c_int, me: c_int) -> c_int {
    // SAFETY: `ranks` cards, by the interface.
    let cards: Vec<Card> = (0..ranks as usize)
        .map(|r| unsafe { cards.cast::<PlainCard>().add(r).read_unaligned() }.card)
        .collect();
    communicator::lock(&CANDIDATE).as_mut().map_or(0, |c| c.join(&cards, me as usize)) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_world_agree(joined: *const u8, ranks: c_int) {
    // SAFETY: one byte a rank, by the interface.
    let answers = unsafe { std::slice::from_raw_parts(joined, ranks as usize) };
    if let Some(candidate) = communicator::lock(&CANDIDATE).take() {
        candidate.agree(answers);
    }
}

#[unsafe(no_mangle)]
extern "C" fn ek_world_leave() {
    if let Some(world) = world() {
        world.leave();
    }
}

#[unsafe(no_mangle)]
extern "C" fn ek_world_forget() {
    evenkeel_engine::deferral::pending::close();
    evenkeel_engine::message::close();
    node::forget();
}

#[unsafe(no_mangle)]
extern "C" fn ek_world_host(progress: extern "C" fn()) {
    evenkeel_engine::wait::chores::set_host_progress(progress);
}

#[unsafe(no_mangle)]
extern "C" fn ek_world_reports_faults() {
    if let Some(world) = world() {
        world.report_faults();
    }
}

#[unsafe(no_mangle)]
extern "C" fn ek_world_has_died(rank: c_int) -> c_int {
    world().is_some_and(|world| world.has_died(rank as usize)) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn ek_world_comm_id() -> u64 {
    world().map_or(0, |w| w.world_comm_id())
}

/// # Safety
/// `members` must hold `ranks` entries.
pub(crate) unsafe fn members<'a>(members: *const c_int, ranks: c_int) -> &'a [i32] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(members, ranks as usize) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_fresh_id(list: *const c_int, ranks: c_int) -> u64 {
    // SAFETY: by the interface.
    communicator::fresh_id(world(), unsafe { members(list, ranks) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_comm_duplicate(
    parent: *const Comm,
    list: *const c_int,
    ranks: c_int,
    me: c_int,
) -> *const Comm {
    // SAFETY: an attached communicator, and its members.
    Arc::into_raw(unsafe { &*parent }.duplicate(world(), unsafe { members(list, ranks) }, me as usize))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_comm_attach(id: u64, list: *const c_int, ranks: c_int, me: c_int) -> *const Comm {
    // SAFETY: by the interface.
    Arc::into_raw(Comm::attach(world(), id, unsafe { members(list, ranks) }, me as usize))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_comm_detach(comm: *const Comm) {
    // SAFETY: from `ek_comm_attach`, detached once.
    Comm::detach(unsafe { Arc::from_raw(comm) });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_comm_revoke(comm: *const Comm) {
    // SAFETY: an attached communicator.
    unsafe { &*comm }.revoke();
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_is_revoked(comm: *const Comm) -> c_int {
    // SAFETY: an attached communicator.
    unsafe { &*comm }.is_revoked() as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_serves(comm: *const Comm) -> c_int {
    // SAFETY: an attached communicator.
    unsafe { &*comm }.served.is_some() as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_comm_name(comm: *const Comm, name: *const c_char) {
    // SAFETY: an attached communicator and a terminated string.
    unsafe { &*comm }.set_name(&unsafe { string(name) });
}

/// `struct ek_pause`: start of the wait in ticks, looks, next time the host is due, its step.
#[unsafe(no_mangle)]
unsafe extern "C" fn ek_pause_once(state: *mut [u64; 4]) {
    // SAFETY: by the interface.
    let state = unsafe { &mut *state };
    if state[0] == 0 {
        state[0] = Ticks::now().0.max(1);
    }
    let Some(world) = world() else {
        evenkeel_engine::wait::settings::offer_the_core();
        return;
    };
    let mut wait = Wait::resume(Ticks(state[0]), state[1] as u32);
    if wait.once(&world.waiting, 0, || true) {
        // The host cannot wake us: a short nap stands for blocking.
        std::thread::sleep(std::time::Duration::from_micros(50));
    }
    state[1] = wait.looks as u64;
    if wait.looks % 1024 == 0 && Ticks::now().ns_since(wait.began) >= state[2].max(world.patience_ns) {
        state[2] = Ticks::now().ns_since(wait.began) + world.patience_ns;
        world.check_alive(0..world.neighbours.len(), "Wait");
    }
}
