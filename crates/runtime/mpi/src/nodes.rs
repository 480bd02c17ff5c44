//! Agents, and communicators across nodes, for C.

use crate::world::members;
use evenkeel_engine::communicator::node::Comm;
use evenkeel_engine::communicator::spanning::{self as across, Reservation, SpanningCommunicator};
use evenkeel_engine::job::agent_start::{self, AGENT_INFO_BYTES};
use evenkeel_engine::job::node::world;
use std::ffi::c_int;
use std::sync::Arc;

#[unsafe(no_mangle)]
extern "C" fn ek_nodes_count() -> c_int {
    agent_start::count() as c_int
}

#[unsafe(no_mangle)]
extern "C" fn ek_nodes_leads(rank: c_int) -> c_int {
    agent_start::leads(rank as usize) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_nodes_start(mine: *mut [u8; AGENT_INFO_BYTES]) {
    // SAFETY: room for an offer, by the interface.
    agent_start::start(unsafe { &mut *mine });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_nodes_join(offers: *const [u8; AGENT_INFO_BYTES], count: c_int) -> c_int {
    // SAFETY: so many offers, by the interface.
    agent_start::join(world(), unsafe { std::slice::from_raw_parts(offers, count as usize) }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_nodes_agree(joined: *const u8, ranks: c_int) {
    // SAFETY: one byte a rank, by the interface.
    agent_start::agree(world(), unsafe { std::slice::from_raw_parts(joined, ranks as usize) });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_spans(list: *const c_int, ranks: c_int) -> c_int {
    // SAFETY: by the interface.
    world().and_then(|w| w.spanned(unsafe { members(list, ranks) })).is_some() as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_across_offer(list: *const c_int, ranks: c_int, me: c_int) -> Reservation {
    let world = world().expect("`ek_spans` has said yes");
    // SAFETY: by the interface.
    let layout = world.spanned(unsafe { members(list, ranks) }).expect("`ek_spans` has said yes");
    across::reserve(world, &layout, me as usize)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_across_attach(
    offers: *const Reservation,
    list: *const c_int,
    ranks: c_int,
    me: c_int,
) -> *const Comm {
    let world = world().expect("`ek_spans` has said yes");
    // SAFETY: by the interface.
    let (members, offers) =
        unsafe { (members(list, ranks), std::slice::from_raw_parts(offers, ranks as usize)) };
    let layout = world.spanned(members).expect("`ek_spans` has said yes");
    let across = SpanningCommunicator::from_reservations(world, layout, offers, members, me as usize);
    Arc::into_raw(Comm::attach_across(world, across, members, me as usize))
}
