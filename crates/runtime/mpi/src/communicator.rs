//! Communicators.
//!
//! A communicator's id names its block of shared memory, so one rank draws it and the others are told:
//!
//! * MPI_COMM_WORLD has `ek_world_comm_id`, the same at all ranks.
//! * A duplicate has what `ek_comm_duplicate` of its parent works out at every member, in the same
//!   order and without a wait.
//! * For every other new communicator its rank 0 calls `ek_reserve_comm_id`, and the shim broadcasts
//!   the answer.
//!
//! Id 0 means that the host serves the communicator, for all members alike: it has processes of another
//! world, or one member, or there was no memory left. Members that `ek_members_span_nodes` says to be on
//! several nodes have a block on each: every member calls `ek_comm_reserve_spanning`, the shim gathers what
//! all have reserved, and `ek_comm_attach_spanning` takes that in the order of ranks. That holds for
//! MPI_COMM_WORLD too.

use crate::text::{slice, string};
use evenkeel_engine::collective::call::Kind;
use evenkeel_engine::communicator::node::{self as communicator, Comm};
use evenkeel_engine::communicator::spanning::{self as spanning, SpanningCommunicator};
use evenkeel_engine::job::node::world;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

/// What a member has reserved for a new communicator on several nodes, and tells the others: plain bytes, to
/// be sent as they are.
#[repr(C)]
pub struct SpanningReservation {
    pub words: [u64; 2],
}

const _: () = assert!(size_of::<SpanningReservation>() == size_of::<spanning::Reservation>());
const _: () = assert!(align_of::<SpanningReservation>() == align_of::<spanning::Reservation>());

/// The id of MPI_COMM_WORLD; 0: the host's.
#[unsafe(no_mangle)]
pub extern "C" fn ek_world_comm_id() -> u64 {
    world().map_or(0, |world| world.world_comm_id())
}

/// Draws the id of a new communicator. `members`: world ranks in the order of ranks, -1 for a process of
/// another world.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_reserve_comm_id(members: *const c_int, ranks: c_int) -> u64 {
    // SAFETY: one entry for each rank, by the interface.
    communicator::fresh_id(world(), unsafe { slice(members, ranks) })
}

/// Takes part in the next duplicate of `parent`. Never NULL; see `ek_comm_attach`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_duplicate(
    parent: *const Comm,
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> *mut Comm {
    // SAFETY: an attached communicator and its members, by the interface.
    let (parent, members) = unsafe { (&*parent, slice(members, ranks)) };
    Arc::into_raw(parent.duplicate(world(), members, me as usize)).cast_mut()
}

/// Whether these members are on several nodes, and evenkeel can serve them there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_members_span_nodes(members: *const c_int, ranks: c_int) -> bool {
    // SAFETY: one entry for each rank, by the interface.
    let members = unsafe { slice(members, ranks) };
    world().and_then(|world| world.spanned(members)).is_some()
}

/// Reserves what a new communicator on several nodes needs from this member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_reserve_spanning(
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> SpanningReservation {
    let world = world().expect("`ek_members_span_nodes` has said yes");
    // SAFETY: one entry for each rank, by the interface.
    let layout = world.spanned(unsafe { slice(members, ranks) });
    let reservation =
        spanning::reserve(world, &layout.expect("`ek_members_span_nodes` has said yes"), me as usize);
    // SAFETY: both are 16 plain bytes of the same alignment, as asserted above.
    unsafe { std::mem::transmute::<spanning::Reservation, SpanningReservation>(reservation) }
}

/// Takes part in a communicator on several nodes, with what all members have reserved, in the order of
/// ranks. Never NULL; see `ek_comm_attach`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_attach_spanning(
    reserved: *const SpanningReservation,
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> *mut Comm {
    let world = world().expect("`ek_members_span_nodes` has said yes");
    // SAFETY: one entry for each rank, by the interface; reservations are the engine's, as asserted above.
    let (members, reserved) =
        unsafe { (slice(members, ranks), slice(reserved.cast::<spanning::Reservation>(), ranks)) };
    let layout = world.spanned(members).expect("`ek_members_span_nodes` has said yes");
    let spanning = SpanningCommunicator::from_reservations(world, layout, reserved, members, me as usize);
    Arc::into_raw(Comm::attach_across(world, spanning, members, me as usize)).cast_mut()
}

/// Takes part in the communicator `id`. Never NULL: one that the host serves is kept for the record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_attach(
    id: u64,
    members: *const c_int,
    ranks: c_int,
    me: c_int,
) -> *mut Comm {
    // SAFETY: one entry for each rank, by the interface.
    let members = unsafe { slice(members, ranks) };
    Arc::into_raw(Comm::attach(world(), id, members, me as usize)).cast_mut()
}

/// Ends this rank's part in it. Not to be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_detach(comm: *mut Comm) {
    // SAFETY: from one of the functions that attach, and detached once, by the interface.
    Comm::detach(unsafe { Arc::from_raw(comm.cast_const()) });
}

/// Whether evenkeel carries out collectives on it. If not, they are the host's for as long as it lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_is_served(comm: *const Comm) -> bool {
    // SAFETY: an attached communicator, by the interface.
    unsafe { &*comm }.is_served()
}

/// Whether evenkeel serves it and all its members are on this node. Only there does it carry messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_is_on_one_node(comm: *const Comm) -> bool {
    // SAFETY: an attached communicator, by the interface.
    unsafe { &*comm }.served.is_some()
}

/// Counts a call on a communicator that is not served as the host's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_count_host_call(comm: *const Comm, kind: u32, nonblocking: bool) {
    let Some(kind) = Kind::from_u32(kind) else { return };
    // SAFETY: an attached communicator, by the interface.
    let plan = unsafe { &*comm }.takes(kind, 0, 0, None, nonblocking);
    debug_assert!(plan.is_none(), "a communicator that is not served takes no call");
}

/// Names it in the record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_set_name(comm: *const Comm, name: *const c_char) {
    // SAFETY: an attached communicator and a terminated string, by the interface.
    unsafe { (*comm).set_name(&string(name)) };
}

/// Ends what is under way on it, for all members: they get EK_REVOKED, and later calls are declined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_revoke(comm: *const Comm) {
    // SAFETY: an attached communicator, by the interface.
    unsafe { &*comm }.revoke();
}

/// Whether any member has revoked it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_comm_is_revoked(comm: *const Comm) -> bool {
    // SAFETY: an attached communicator, by the interface.
    unsafe { &*comm }.is_revoked()
}
