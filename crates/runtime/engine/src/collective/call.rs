//! What a front end asks for: one collective call in terms of bytes, ranks and functions.
//!
//! Mirrors `struct ek_call` of `shims/include/evenkeel.h`, which says what each field means for each kind.

use evenkeel_schedule::deposits::{self, Participation, Sources};
use evenkeel_schedule::{Collective, Rank};
use std::ffi::c_void;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Kind {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
}

impl Kind {
    pub const COUNT: usize = 17;
    pub const ALL: [Kind; Kind::COUNT] = {
        use Kind::*;
        [
            Barrier,
            Bcast,
            Reduce,
            Allreduce,
            Gather,
            Gatherv,
            Scatter,
            Scatterv,
            Allgather,
            Allgatherv,
            Alltoall,
            Alltoallv,
            Alltoallw,
            ReduceScatter,
            ReduceScatterBlock,
            Scan,
            Exscan,
        ]
    };

    pub fn from_u32(n: u32) -> Option<Kind> {
        Kind::ALL.get(n as usize).copied()
    }

    /// MPI's name without prefix, in lower case.
    pub fn name(self) -> &'static str {
        [
            "barrier",
            "bcast",
            "reduce",
            "allreduce",
            "gather",
            "gatherv",
            "scatter",
            "scatterv",
            "allgather",
            "allgatherv",
            "alltoall",
            "alltoallv",
            "alltoallw",
            "reduce_scatter",
            "reduce_scatter_block",
            "scan",
            "exscan",
        ][self as usize]
    }

    /// Whether arrivals are counted: everybody takes part, and somebody needs all.
    #[inline(always)]
    pub fn is_counted(self) -> bool {
        deposits::some_rank_needs_all(self.operation())
    }

    /// The operation of the schedules that it is. What the variants of one differ in is how much a rank
    /// hands in, not who hands in what to whom.
    #[inline(always)]
    pub const fn operation(self) -> Collective {
        match self {
            Kind::Barrier => Collective::Barrier,
            Kind::Bcast => Collective::Bcast,
            Kind::Reduce => Collective::Reduce,
            Kind::Allreduce => Collective::Allreduce,
            Kind::Gather | Kind::Gatherv => Collective::Gather,
            Kind::Scatter | Kind::Scatterv => Collective::Scatter,
            Kind::Allgather | Kind::Allgatherv => Collective::Allgather,
            Kind::Alltoall | Kind::Alltoallv | Kind::Alltoallw => Collective::Alltoall,
            Kind::ReduceScatter | Kind::ReduceScatterBlock => Collective::ReduceScatter,
            Kind::Scan => Collective::Scan,
            Kind::Exscan => Collective::Exscan,
        }
    }

    /// What `me` among `ranks` hands in, and whose deposits it needs.
    #[inline(always)]
    pub const fn participation(self, ranks: usize, root: usize, me: usize) -> Participation {
        deposits::participation(self.operation(), ranks as u32, Rank(root as u32), Rank(me as u32))
    }

    /// How many contributions, those of ranks 0, 1, …, make up what `me` among `ranks` gets.
    #[inline(always)]
    pub const fn operands(self, ranks: usize, me: usize) -> usize {
        deposits::operand_count(self.operation(), ranks as u32, Rank(me as u32)) as usize
    }

    /// Whether only the ranks involved know how much is moved.
    pub fn is_private(self) -> bool {
        matches!(self, Kind::Gatherv | Kind::Scatterv | Kind::Alltoallv | Kind::Alltoallw)
    }
}

/// `inout[i] = in[i] op inout[i]` for `count` elements.
pub type Combine =
    unsafe extern "C" fn(context: *mut c_void, input: *const c_void, inout: *mut c_void, count: usize);

/// A part of a buffer: where it starts, relative to the buffer, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Span {
    pub offset: isize,
    pub bytes: usize,
}

/// One collective call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Call {
    pub kind: u32,
    pub root: i32,
    pub bytes: usize,
    pub send: *const u8,
    pub recv: *mut u8,
    pub send_spans: *const Span,
    pub recv_spans: *const Span,
    pub combine: Option<Combine>,
    pub combine_context: *mut c_void,
    pub elem_bytes: usize,
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
