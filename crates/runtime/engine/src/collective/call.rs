//! What a front end asks for: one collective call in terms of bytes, ranks and functions.
//!
//! The C header of the shims, `shims/include/evenkeel.h`, is generated from [`Call`], [`Span`] and [`Kind`].

pub use evenkeel_spanning::{CollectiveKind as Kind, Span};

use evenkeel_schedule::deposits::Sources;
use std::ffi::{c_int, c_void};

/// `inout[i] = input[i] op inout[i]` for `i < count`.
pub type Combine =
    unsafe extern "C" fn(context: *mut c_void, input: *const c_void, inout: *mut c_void, count: usize);

/// A combine function: `inout[i] = input[i] op inout[i]` for `i < count`, as MPI_Reduce_local. NULL: none.
pub type CombineFunction = Option<
    unsafe extern "C" fn(context: *mut c_void, input: *const c_void, inout: *mut c_void, count: usize),
>;

/// Makes the data of a call contiguous. Nonzero: that failed, and the call is declined.
pub type MaterializeFunction = Option<unsafe extern "C" fn(call: *mut Call) -> c_int>;

/// One collective call. All data are contiguous bytes.
///
/// | kind                 | bytes     | send                    | recv                               |
/// |----------------------|-----------|-------------------------|------------------------------------|
/// | BARRIER              | 0         | -                       | -                                  |
/// | BCAST                | message   | root: message           | others: message                    |
/// | REDUCE               | vector    | vector                  | root: vector                       |
/// | ALLREDUCE, SCAN      | vector    | vector                  | vector                             |
/// | EXSCAN               | vector    | vector                  | vector (rank 0: untouched)         |
/// | GATHER               | one block | own block               | root: ranks x block                |
/// | SCATTER              | one block | root: ranks x block     | own block                          |
/// | ALLGATHER            | one block | own block               | ranks x block                      |
/// | ALLTOALL             | one block | ranks x block           | ranks x block                      |
/// | GATHERV              | own block | own block               | root: recv + recv_spans            |
/// | SCATTERV             | own block | root: send + send_spans | own block                          |
/// | ALLGATHERV           | own block | own block               | recv + recv_spans, the same at all |
/// | ALLTOALLV, ALLTOALLW | 0         | send + send_spans       | recv + recv_spans                  |
/// | REDUCE_SCATTER       | vector    | vector                  | own part (recv_spans: all parts)   |
/// | REDUCE_SCATTER_BLOCK | one block | ranks x block           | own block                          |
///
/// In place: `send` may equal the place in `recv` where this rank's own data go. All reductions: `send` may
/// equal `recv`; REDUCE_SCATTER and REDUCE_SCATTER_BLOCK: `recv` may be the start of `send`. Buffers do not
/// overlap otherwise. ALLTOALL, ALLTOALLV, ALLTOALLW: `send` and `recv` are distinct.
///
/// Data with holes: the caller sets `materialize`. The engine calls it once, after it has accepted the call
/// and before it reads the buffers, and holds no lock meanwhile. It packs what is sent, allocates what is
/// received into, and fills in `send`, `recv` and the offsets of the spans.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Call {
    /// Which collective: the number of its kind.
    pub kind: u32,
    pub root: i32,
    pub bytes: usize,
    pub send: *const u8,
    pub recv: *mut u8,
    /// One span per rank; must live until the call is complete.
    pub send_spans: *const Span,
    /// One span per rank; must live until the call is complete.
    pub recv_spans: *const Span,
    /// Of reductions.
    pub combine: CombineFunction,
    /// Handed to `combine`.
    pub combine_context: *mut c_void,
    /// Size of one element of a reduction, which is never divided; 0 for other kinds.
    pub elem_bytes: usize,
    /// NULL: the data are contiguous already.
    pub materialize: MaterializeFunction,
    /// For `materialize`.
    pub materialize_context: *mut c_void,
}

impl Call {
    /// One that moves nothing, for tests to fill in: blocking barriers have a way of their own.
    #[cfg(test)]
    pub fn barrier() -> Call {
        Call {
            kind: Kind::Barrier as u32,
            root: 0,
            bytes: 0,
            send: std::ptr::null(),
            recv: std::ptr::null_mut(),
            send_spans: std::ptr::null(),
            recv_spans: std::ptr::null(),
            combine: None,
            combine_context: std::ptr::null_mut(),
            elem_bytes: 1,
            materialize: None,
            materialize_context: std::ptr::null_mut(),
        }
    }

    /// Whether rank `me` only hands something in and takes nothing out.
    pub fn leaves_at_once(&self, ranks: usize, me: usize) -> bool {
        self.kind().participation(ranks, self.root as usize, me).needs == Sources::Empty
    }

    #[inline(always)]
    pub fn kind(&self) -> Kind {
        Kind::ALL[self.kind as usize]
    }

    /// # Safety
    /// `send_spans` must hold an entry for `rank`.
    pub unsafe fn send_span(&self, rank: usize) -> Span {
        unsafe { *self.send_spans.add(rank) }
    }

    /// # Safety
    /// `recv_spans` must hold an entry for `rank`.
    pub unsafe fn recv_span(&self, rank: usize) -> Span {
        unsafe { *self.recv_spans.add(rank) }
    }
}
