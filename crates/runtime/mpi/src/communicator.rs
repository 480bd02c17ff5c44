//! Communicators.
//!
//! A communicator's id names its block of shared memory, so one rank allocates it and tells the others:
//!
//! * MPI_COMM_WORLD has `ek_world_comm_id`, the same on all ranks.
//! * A duplicate has the id that `ek_comm_duplicate` of its parent computes at every member. Members must
//!   make duplicates in the same order, and do not wait for each other.
//! * For every other new communicator its rank 0 calls `ek_reserve_comm_id`, and the shim broadcasts the
//!   result.
//!
//! Id 0 means that the host library serves the communicator, for all members alike: it has processes of
//! another world, or one member, or there was no memory left. If `ek_members_span_nodes` returns true for
//! the members, they are on several nodes and have a block on each. Every member then calls
//! `ek_comm_reserve_spanning`, the shim gathers all reservations, and passes them to
//! `ek_comm_attach_spanning` in rank order. That holds for MPI_COMM_WORLD too.

use crate::text::{slice, string};
use evenkeel_engine::collective::call::CollectiveKind;
use evenkeel_engine::communicator::Communicator;
use evenkeel_engine::job::node::Node;
use evenkeel_engine::process::Process;
use evenkeel_engine::spanning::reservation::Reservation;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

/// What a member has reserved for a new communicator on several nodes and sends to the others: plain bytes,
/// to be sent unchanged.
#[repr(C)]
pub struct SpanningReservation {
    pub words: [u64; 3],
}

const _: () = assert!(size_of::<SpanningReservation>() == size_of::<Reservation>());
const _: () = assert!(align_of::<SpanningReservation>() == align_of::<Reservation>());

/// The id of MPI_COMM_WORLD; 0 if the host library serves it.
#[unsafe(no_mangle)]
pub extern "C" fn ek_world_comm_id() -> u64 {
    Process::get().and_then(Process::node).map_or(0, Node::world_comm_id)
}

/// Allocates the id of a new communicator. `members` are world ranks in rank order, -1 for a process of
/// another world.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_reserve_comm_id(members: *const c_int, ranks: c_int) -> u64 {
    // SAFETY: one entry per rank, by the interface.
    let members = unsafe { slice(members, ranks) };
    Process::get().map_or(0, |process| process.allocate_id(members))
}

/// Attaches this process to the next duplicate of `parent`. Never returns NULL; see `ek_comm_attach`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_duplicate(
    parent: *const Communicator,
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> *mut Communicator {
    // SAFETY: an attached communicator and its members, by the interface.
    unsafe {
        let duplicate = Process::current().duplicate(&*parent, slice(members, ranks), me as usize);
        Arc::into_raw(duplicate).cast_mut()
    }
}

/// Returns whether these members are on several nodes and evenkeel can serve them there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_members_span_nodes(members: *const c_int, ranks: c_int) -> bool {
    // SAFETY: one entry per rank, by the interface.
    let members = unsafe { slice(members, ranks) };
    Process::get().is_some_and(|process| process.spans_nodes(members))
}

/// Reserves this member's share of a new communicator on several nodes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_reserve_spanning(
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> SpanningReservation {
    // SAFETY: one entry per rank, by the interface, after `ek_members_span_nodes` returned true.
    let reservation = unsafe { Process::current().reserve(slice(members, ranks), me as usize) };
    // SAFETY: both are 24 plain bytes of the same alignment, as asserted above.
    unsafe { std::mem::transmute::<Reservation, SpanningReservation>(reservation) }
}

/// Attaches this process to a communicator on several nodes. `reserved` has all members' reservations in
/// rank order. Never returns NULL; see `ek_comm_attach`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_attach_spanning(
    reserved: *const SpanningReservation,
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> *mut Communicator {
    // SAFETY: one entry per rank, by the interface; reservations are the engine's, as asserted above.
    let (members, reserved) =
        unsafe { (slice(members, ranks), slice(reserved.cast::<Reservation>(), ranks)) };
    // SAFETY: after `ek_members_span_nodes` returned true, by the interface.
    let process = unsafe { Process::current() };
    Arc::into_raw(process.attach_spanning(reserved, members, me as usize)).cast_mut()
}

/// Attaches this process to the communicator `id`. Never returns NULL: a communicator that the host library
/// serves is kept for the record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_attach(
    id: u64,
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> *mut Communicator {
    // SAFETY: one entry per rank, after `ek_world_begin`, by the interface.
    unsafe { Arc::into_raw(Process::current().attach(id, slice(members, ranks), me as usize)).cast_mut() }
}

/// Detaches this rank from a communicator, which must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_detach(comm: *mut Communicator) {
    // SAFETY: made by one of the functions that attach, and detached once, by the interface.
    unsafe { Process::current().detach(Arc::from_raw(comm.cast_const())) };
}

/// Returns whether evenkeel carries out collectives on it. If not, the host library does, as long as it
/// lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_is_served(comm: *const Communicator) -> bool {
    // SAFETY: an attached communicator, by the interface.
    unsafe { &*comm }.service().is_some()
}

/// Returns whether evenkeel serves it and all its members are on this node. evenkeel carries messages only
/// on such communicators.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_is_on_one_node(comm: *const Communicator) -> bool {
    // SAFETY: an attached communicator, by the interface.
    matches!(unsafe { &*comm }, Communicator::Node(_))
}

/// The offset in the segment of its block on this node, by which a wait in it is known to those who look from
/// outside; 0 if it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_block(comm: *const Communicator) -> u64 {
    // SAFETY: an attached communicator, by the interface.
    unsafe { &*comm }.service().map_or(0, |service| service.block_offset())
}

/// Counts a call of the host library on a communicator that evenkeel does not serve.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_count_host_call(comm: *const Communicator, kind: u32, nonblocking: bool) {
    let Some(kind) = CollectiveKind::from_u32(kind) else { return };
    // SAFETY: an attached communicator, by the interface.
    if let Communicator::Host(host) = unsafe { &*comm } {
        host.count(kind, nonblocking);
    }
}

/// Sets the name that the record uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_set_name(comm: *const Communicator, name: *const c_char) {
    // SAFETY: an attached communicator and a terminated string, by the interface.
    unsafe { (*comm).identity().set_name(&string(name)) };
}

/// Ends all operations in progress on it, for all members: they get EK_REVOKED, and later calls are
/// declined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_revoke(comm: *const Communicator) {
    // SAFETY: an attached communicator, by the interface.
    unsafe { Process::current().revoke(&*comm) };
}

/// Returns whether any member has revoked it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_is_revoked(comm: *const Communicator) -> bool {
    // SAFETY: an attached communicator, by the interface.
    unsafe { &*comm }.service().is_some_and(|service| service.part.is_revoked())
}
