//! One collective call as a front end passes it: in terms of bytes, ranks and functions.
//!
//! The C header of the shims, `shims/include/evenkeel.h`, is generated from [`Call`], [`Span`] and
//! [`CollectiveKind`].

pub use evenkeel_spanning::{CollectiveKind, Span};

use evenkeel_schedule::deposits::Sources;
use std::ffi::{c_int, c_void};

/// `inout[i] = input[i] op inout[i]` for `i < count`.
pub type Combine =
    unsafe extern "C" fn(context: *mut c_void, input: *const c_void, inout: *mut c_void, count: usize);

/// A combine function: `inout[i] = input[i] op inout[i]` for `i < count`, as in MPI_Reduce_local. May be
/// NULL.
pub type CombineFunction = Option<
    unsafe extern "C" fn(context: *mut c_void, input: *const c_void, inout: *mut c_void, count: usize),
>;

/// Makes the data of a call contiguous. Returns nonzero if that fails; the call is then declined.
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
/// In place: `send` may equal the place in `recv` where this rank's own data go. In all reductions `send`
/// may equal `recv`; in REDUCE_SCATTER and REDUCE_SCATTER_BLOCK `recv` may be the start of `send`. Buffers
/// do not overlap otherwise. In ALLTOALL, ALLTOALLV and ALLTOALLW, `send` and `recv` are distinct.
///
/// Data with holes: the caller sets `materialize`. The engine calls it once, after it has accepted the call
/// and before it reads the buffers, and holds no lock during the call. The function packs the data to send,
/// allocates the receive buffer, and fills in `send`, `recv` and the offsets of the spans.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Call {
    /// The number of the call's [`CollectiveKind`].
    pub kind: u32,
    /// The root, if the kind has one.
    pub root: i32,
    /// See the table.
    pub bytes: usize,
    /// See the table.
    pub send: *const u8,
    /// See the table.
    pub recv: *mut u8,
    /// One span per rank; must live until the call is complete.
    pub send_spans: *const Span,
    /// One span per rank; must live until the call is complete.
    pub recv_spans: *const Span,
    /// Combines two vectors; only for reductions.
    pub combine: CombineFunction,
    /// Passed to `combine`.
    pub combine_context: *mut c_void,
    /// Size of one element of a reduction, which is never split; 0 for other kinds.
    pub elem_bytes: usize,
    /// NULL if the data are contiguous already.
    pub materialize: MaterializeFunction,
    /// Context of `materialize`.
    pub materialize_context: *mut c_void,
}

impl Call {
    /// A call of this kind that moves no data, for the caller to fill in.
    pub fn empty(kind: CollectiveKind) -> Call {
        Call {
            kind: kind as u32,
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

    /// Makes the data of the call contiguous; returns false if that fails.
    ///
    /// # Safety
    /// `call` must point to a call whose `materialize` may be called.
    #[inline(always)]
    pub unsafe fn materialize(call: *mut Call) -> bool {
        // SAFETY: the caller's promise. No reference to the call is held while the function changes it.
        unsafe {
            match (*call).materialize {
                None => true,
                Some(materialize) => materialize(call) == 0,
            }
        }
    }

    /// Returns whether rank `me` only contributes and receives nothing.
    pub fn only_contributes(&self, ranks: usize, me: usize) -> bool {
        self.kind().participation(ranks, self.root as usize, me).needs == Sources::Empty
    }

    /// The kind of collective.
    #[inline(always)]
    pub fn kind(&self) -> CollectiveKind {
        CollectiveKind::ALL[self.kind as usize]
    }

    /// The span in `send` of the part for `rank`.
    ///
    /// # Safety
    /// `send_spans` must hold an entry for `rank`.
    pub unsafe fn send_span(&self, rank: usize) -> Span {
        // SAFETY: the caller's promise.
        unsafe { *self.send_spans.add(rank) }
    }

    /// The span in `recv`, or in the vector, of the part of `rank`.
    ///
    /// # Safety
    /// `recv_spans` must hold an entry for `rank`.
    pub unsafe fn recv_span(&self, rank: usize) -> Span {
        // SAFETY: the caller's promise.
        unsafe { *self.recv_spans.add(rank) }
    }

    /// Where the part that rank `me` gets is in the vector that a reduction combines.
    ///
    /// # Safety
    /// `recv_spans` must hold an entry for `me` if the kind needs it.
    pub unsafe fn reduced_part(&self, me: usize) -> Span {
        match self.kind() {
            CollectiveKind::ReduceScatterBlock => {
                Span { offset: (me * self.bytes) as isize, bytes: self.bytes }
            }
            // SAFETY: the caller's promise.
            CollectiveKind::ReduceScatter => unsafe { self.recv_span(me) },
            _ => Span { offset: 0, bytes: self.bytes },
        }
    }

    /// The number of bytes by which the call is cut, which all members know. For an allgather of blocks of
    /// different sizes this is the size of the largest block.
    ///
    /// # Safety
    /// `recv_spans` must hold `ranks` entries if the kind needs it.
    pub unsafe fn common_bytes(&self, ranks: usize) -> usize {
        match self.kind() {
            CollectiveKind::Allgatherv => (0..ranks)
                // SAFETY: the caller's promise.
                .map(|rank| unsafe { self.recv_span(rank) }.bytes)
                .max()
                .unwrap_or(0),
            _ => self.bytes,
        }
    }

    /// The number of payload bytes that rank `me` contributes or receives.
    ///
    /// # Safety
    /// The spans that the kind needs must hold `ranks` entries.
    pub unsafe fn bytes_moved(&self, ranks: usize, me: usize) -> usize {
        use CollectiveKind::*;
        let total = |spans: *const Span| -> usize {
            // SAFETY: the caller's promise.
            if spans.is_null() { 0 } else { (0..ranks).map(|rank| unsafe { *spans.add(rank) }.bytes).sum() }
        };
        let is_root = self.root == me as i32;
        match self.kind() {
            Gather | Scatter if is_root => self.bytes * ranks,
            Allgather | Alltoall | ReduceScatterBlock => self.bytes * ranks,
            Gatherv if is_root => total(self.recv_spans),
            Scatterv if is_root => total(self.send_spans),
            Allgatherv => total(self.recv_spans),
            Alltoallv | Alltoallw => total(self.send_spans).max(total(self.recv_spans)),
            _ => self.bytes,
        }
    }
}
