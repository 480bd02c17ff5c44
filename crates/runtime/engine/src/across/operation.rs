//! A rank's part in a collective across nodes: pieces, each of one or two collectives among the members
//! here and their node's agent.
//!
//! The agent is the last member of the communicator here. What goes up to it is a reduction or gather
//! with it as root, of which the rank need not see the end; what comes down from it is a broadcast or
//! scatter. Where the root is here, the agent is one of those who hand in, or one of those who get. A
//! large call is cut into pieces by what all members know alike; several pieces are under way at once.

use super::description::Description;
use super::layout::Layout;
use super::shares::{Cut, Shares};
use crate::collective::call::{Call, Kind, Span};
use crate::collective::operation::Operation as Part;
use crate::comm::communicator::Comm;
use crate::comm::shared::Served;
use crate::comm::state::State;
use crate::copy::copy;
use crate::reduction::kernels;
use std::collections::VecDeque;

/// Bytes of a piece: a quarter of what a rank can have deposited at once.
const PIECE: usize = 64 * 1024;
/// The same of a broadcast, which has the common area to itself: every piece costs wake-ups, and a node
/// that passes it on waits for all of it.
const BROADCAST_PIECE: usize = 128 * 1024;
/// Pieces of one call that are under way at once.
const DEPTH: usize = 4;
/// Bytes that all blocks of a gather and its kin may have together, as one node sees them; beyond it
/// the host library is asked.
const MOST_IN_BLOCKS: usize = 1 << 20;

/// How a call is cut: bytes of its cut dimension (a block's for gather and its kin) in each piece but
/// the last; None: the host must carry it out. From what all members know alike.
pub fn slice(
    kind: Kind,
    bytes: usize,
    operator: Option<usize>,
    nonblocking: bool,
    layout: &Layout,
) -> Option<usize> {
    let ranks = layout.ranks();
    let blocks = |together: usize| {
        (bytes.checked_mul(together)? <= MOST_IN_BLOCKS).then(|| PIECE / together).filter(|slice| *slice > 0)
    };
    let slice = match kind {
        Kind::Barrier | Kind::Bcast => BROADCAST_PIECE,
        Kind::Reduce | Kind::Allreduce => PIECE / operator? * operator?,
        // What goes from node to node is put before what the ranks here have.
        Kind::Scan | Kind::Exscan if layout.is_in_order() => PIECE / operator? * operator?,
        // Of the whole vector, which any cut of it can do with at once.
        Kind::ReduceScatter => PIECE / operator? * operator?,
        Kind::ReduceScatterBlock => PIECE / operator? * operator? / ranks,
        Kind::Gather | Kind::Scatter | Kind::Allgather => blocks(ranks)?,
        Kind::Allgatherv => blocks(layout.nodes.len() * layout.most())?,
        Kind::Alltoall => blocks(ranks * (layout.most() + 1))?,
        _ => return None,
    };
    // A nonblocking call must not depend on its caller's coming back.
    (!nonblocking || bytes <= slice).then_some(slice)
}

/// One collective call across nodes, under way.
pub struct Operation {
    call: Call,
    layout: *const Layout,
    me: usize,
    node: usize,
    cut: Cut,
    operator: u8,
    begun: usize,
    all: usize,
    under_way: VecDeque<Piece>,
}

/// What is under way of one piece.
struct Piece {
    number: u64,
    words: [u64; 2],
    is_posted: bool,
    parts: [Option<Part>; 2],
    at: usize,
    length: usize,
    /// Data in node order, on its way out or in; the parts know where it lies.
    packed: Vec<u8>,
    unpacked: Vec<u8>,
    _spans: Vec<Span>,
}

impl Operation {
    /// `layout` must outlive it; [`slice`] has accepted the call. `me`: the caller's rank.
    pub fn new(call: Call, layout: &Layout, me: usize, slice: usize, nonblocking: bool) -> Operation {
        let operator = call.combine.and_then(kernels::number_of).unwrap_or(0);
        let cut = match call.kind() {
            Kind::ReduceScatter | Kind::ReduceScatterBlock => {
                Shares { call: &call, layout }.cut(call.elem_bytes, PIECE, nonblocking)
            }
            Kind::Allgatherv => Cut { whole: false, total: Shares { call: &call, layout }.longest(), slice },
            _ => Cut { whole: false, total: call.bytes, slice },
        };
        let all = cut.total.div_ceil(cut.slice).max(1);
        Operation {
            call,
            layout,
            me,
            node: layout.seats[me].0 as usize,
            cut,
            operator,
            begun: 0,
            all,
            under_way: VecDeque::new(),
        }
    }

    fn shares(&self) -> Shares<'_> {
        Shares { call: &self.call, layout: self.layout() }
    }

    fn layout(&self) -> &Layout {
        // SAFETY: the layout is the communicator's, which outlives its operations.
        unsafe { &*self.layout }
    }

    /// Moves on as far as possible; true when this rank's part is done. `comm` is the communicator of the
    /// members here and the agent.
    pub fn poll(&mut self, comm: &Comm, served: &Served, state: &mut State) -> bool {
        loop {
            let mut moved = false;
            while self.begun < self.all && self.under_way.len() < DEPTH {
                let piece = self.begin(comm, served, state);
                self.under_way.push_back(piece);
                self.begun += 1;
            }
            let mut rings = false;
            for piece in &mut self.under_way {
                if !piece.is_posted && !served.board.call_queue().post(piece.number, piece.words) {
                    break;
                }
                rings |= !piece.is_posted;
                piece.is_posted = true;
                for part in piece.parts.iter_mut().flatten() {
                    let before = part.has_entered();
                    part.poll(comm, served, state);
                    rings |= part.has_entered() != before;
                }
            }
            if rings {
                served.ring_agent();
            }
            while self.under_way.front().is_some_and(Piece::is_done) {
                let piece = self.under_way.pop_front().expect("just seen");
                self.hand_out(&piece);
                moved = true;
            }
            if self.under_way.is_empty() && self.begun == self.all {
                return true;
            }
            if !moved {
                return false;
            }
        }
    }

    /// The parts of the next piece, with their numbers.
    fn begin(&self, comm: &Comm, served: &Served, state: &mut State) -> Piece {
        let (layout, call, kind) = (self.layout(), &self.call, self.call.kind());
        let at = self.begun * self.cut.slice;
        let length = self.cut.slice.min(self.cut.total - at);
        let root = layout.seats[call.root as usize];
        let told = match kind {
            Kind::ReduceScatter | Kind::ReduceScatterBlock if self.cut.whole => Kind::Allreduce,
            Kind::ReduceScatter => Kind::ReduceScatterBlock,
            kind => kind,
        };
        let bytes = if kind == Kind::Allgatherv { self.shares().most_of_a_node(at, length) } else { length };
        let words = Description { kind: told, root, bytes, operator: self.operator }.to_words();
        let mut piece = Piece {
            number: state.next_on_docket(),
            words,
            is_posted: false,
            parts: [None, None],
            at,
            length,
            packed: Vec::new(),
            unpacked: Vec::new(),
            _spans: Vec::new(),
        };
        let (agent, ranks) = (comm.ranks - 1, layout.ranks());
        let root_here = (root.0 as usize == self.node).then_some(root.1 as usize);
        let (send, recv) = (call.send.wrapping_add(at), call.recv.wrapping_add(at));
        let inner = |kind: Kind, root: usize, bytes: usize, send: *const u8, recv: *mut u8| Call {
            kind: kind as u32,
            root: root as i32,
            bytes,
            send,
            recv,
            send_spans: std::ptr::null(),
            recv_spans: std::ptr::null(),
            ..*call
        };
        let nowhere = std::ptr::null_mut();
        let calls: [Option<Call>; 2] = match kind {
            Kind::Barrier => [
                Some(inner(Kind::Gather, agent, 0, std::ptr::null(), nowhere)),
                Some(inner(Kind::Bcast, agent, 0, std::ptr::null(), nowhere)),
            ],
            Kind::Bcast => [Some(inner(Kind::Bcast, root_here.unwrap_or(agent), length, send, recv)), None],
            Kind::Reduce => [Some(inner(Kind::Reduce, root_here.unwrap_or(agent), length, send, recv)), None],
            Kind::Allreduce => [
                Some(inner(Kind::Reduce, agent, length, send, nowhere)),
                Some(inner(Kind::Bcast, agent, length, std::ptr::null(), recv)),
            ],
            Kind::ReduceScatter | Kind::ReduceScatterBlock => {
                let (out, there) = if self.cut.whole {
                    piece.unpacked = vec![0; length];
                    (send, length)
                } else {
                    piece.packed = self.shares().packed(at, length);
                    piece.unpacked = vec![0; layout.most() * length];
                    (piece.packed.as_ptr(), piece.packed.len())
                };
                let (bytes, back) = (piece.unpacked.len(), piece.unpacked.as_mut_ptr());
                [
                    Some(inner(Kind::Reduce, agent, there, out, nowhere)),
                    Some(inner(Kind::Bcast, agent, bytes, std::ptr::null(), back)),
                ]
            }
            // The ranks here, with the agent as the last of them; from the agent, what all on the nodes
            // before this one have. Nobody hears of who is above it.
            Kind::Scan | Kind::Exscan => {
                let here = Some(inner(kind, 0, length, send, recv));
                if self.node == 0 {
                    [here, None]
                } else {
                    piece.unpacked = vec![0; length];
                    let before = piece.unpacked.as_mut_ptr();
                    [here, Some(inner(Kind::Bcast, agent, length, std::ptr::null(), before))]
                }
            }
            Kind::Gather => match root_here {
                None => [Some(inner(Kind::Gather, agent, length, send, nowhere)), None],
                Some(seat) => [
                    Some(Call {
                        recv_spans: self.gathers(&mut piece, comm.me == seat),
                        ..inner(Kind::Gatherv, seat, length, send, call.recv)
                    }),
                    None,
                ],
            },
            Kind::Scatter => match root_here {
                None => [Some(inner(Kind::Scatter, agent, length, std::ptr::null(), recv)), None],
                Some(seat) => [
                    Some(Call {
                        send_spans: self.scatters(&mut piece, comm.me == seat),
                        ..inner(Kind::Scatterv, seat, length, call.send, recv)
                    }),
                    None,
                ],
            },
            Kind::Allgather => {
                piece.unpacked = vec![0; length * ranks];
                let all = piece.unpacked.as_mut_ptr();
                [
                    Some(inner(Kind::Gather, agent, length, send, nowhere)),
                    Some(inner(Kind::Bcast, agent, length * ranks, std::ptr::null(), all)),
                ]
            }
            Kind::Allgatherv => {
                let own = self.shares().bytes_in(self.me, at, length).min(call.bytes.saturating_sub(at));
                piece.unpacked = vec![0; bytes * layout.nodes.len()];
                let all = piece.unpacked.as_mut_ptr();
                [
                    Some(inner(Kind::Gather, agent, own, send, nowhere)),
                    Some(inner(Kind::Bcast, agent, piece.unpacked.len(), std::ptr::null(), all)),
                ]
            }
            Kind::Alltoall => {
                piece.unpacked = vec![0; length * ranks];
                let blocks =
                    layout.order.iter().map(|rank| call.send.wrapping_add(*rank as usize * call.bytes + at));
                // SAFETY: `ranks` blocks of `bytes` in the send buffer.
                blocks.for_each(|block| {
                    piece.packed.extend_from_slice(unsafe { std::slice::from_raw_parts(block, length) })
                });
                let (out, back) = (piece.packed.as_ptr(), piece.unpacked.as_mut_ptr());
                [
                    Some(inner(Kind::Gather, agent, length * ranks, out, nowhere)),
                    Some(inner(Kind::Scatter, agent, length * ranks, std::ptr::null(), back)),
                ]
            }
            _ => unreachable!("`slice` has refused it"),
        };
        piece.parts = calls.map(|call| call.map(|call| Part::reserve(comm, served, state, call, true)));
        piece
    }

    /// Where the root of a gather takes what the members here, and last the agent, hand in.
    fn gathers(&self, piece: &mut Piece, is_root: bool) -> *const Span {
        if !is_root {
            return std::ptr::null();
        }
        let (layout, call) = (self.layout(), &self.call);
        let elsewhere = layout.elsewhere(self.node).count() * piece.length;
        piece.unpacked = vec![0; elsewhere];
        piece._spans = layout
            .members(self.node)
            .map(|rank| Span { offset: (rank * call.bytes + piece.at) as isize, bytes: piece.length })
            .collect();
        let offset = (piece.unpacked.as_mut_ptr() as isize).wrapping_sub(call.recv as isize);
        piece._spans.push(Span { offset, bytes: elsewhere });
        piece._spans.as_ptr()
    }

    /// What the root of a scatter has for the members here, and for the agent.
    fn scatters(&self, piece: &mut Piece, is_root: bool) -> *const Span {
        if !is_root {
            return std::ptr::null();
        }
        let (layout, call) = (self.layout(), &self.call);
        let place = |rank: usize| rank * call.bytes + piece.at;
        piece._spans = layout
            .members(self.node)
            .map(|rank| Span { offset: place(rank) as isize, bytes: piece.length })
            .collect();
        for rank in layout.elsewhere(self.node) {
            // SAFETY: `ranks` blocks of `bytes` in the root's send buffer.
            piece.packed.extend_from_slice(unsafe {
                std::slice::from_raw_parts(call.send.wrapping_add(place(rank)), piece.length)
            });
        }
        let offset = (piece.packed.as_ptr() as isize).wrapping_sub(call.send as isize);
        piece._spans.push(Span { offset, bytes: piece.packed.len() });
        piece._spans.as_ptr()
    }

    /// Puts what has come in node order where the program wants it.
    fn hand_out(&self, piece: &Piece) {
        if piece.unpacked.is_empty() {
            return;
        }
        let (layout, call) = (self.layout(), &self.call);
        if matches!(call.kind(), Kind::ReduceScatter | Kind::ReduceScatterBlock) {
            // In place, what is written lies before all that later pieces still hand in: they have more of
            // each part, or of the vector.
            let (to, from, bytes) = self.shares().mine(self.cut, self.me, piece.at, piece.length);
            // SAFETY: the part's place in the receive buffer.
            return unsafe {
                copy(piece.unpacked[from..from + bytes].as_ptr(), call.recv.wrapping_add(to), bytes)
            };
        }
        if matches!(call.kind(), Kind::Scan | Kind::Exscan) {
            return self.put_before(piece);
        }
        if call.kind() == Kind::Allgatherv {
            return self.shares().put(&piece.unpacked, piece.at, piece.length);
        }
        let all = layout.order.iter().map(|rank| *rank as usize);
        let ranks: Vec<usize> =
            if call.kind() == Kind::Gather { layout.elsewhere(self.node).collect() } else { all.collect() };
        for (block, rank) in piece.unpacked.chunks_exact(piece.length).zip(ranks) {
            // SAFETY: `ranks` blocks of `bytes` in the receive buffer.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    block.as_ptr(),
                    call.recv.wrapping_add(rank * call.bytes + piece.at),
                    piece.length,
                )
            };
        }
    }

    /// Combines what the ranks on the nodes before this one have with what has come of those here.
    fn put_before(&self, piece: &Piece) {
        let (call, is_first_here) = (&self.call, self.layout().seats[self.me].1 == 0);
        let (before, result) = (piece.unpacked.as_ptr(), call.recv.wrapping_add(piece.at));
        // SAFETY: both have `length` bytes, in whole elements.
        unsafe {
            if call.kind() == Kind::Exscan && is_first_here {
                return copy(before, result, piece.length);
            }
            let combine = call.combine.expect("a scan has an operator");
            combine(
                call.combine_context,
                before.cast(),
                result.cast(),
                piece.length / call.elem_bytes.max(1),
            );
        }
    }

    /// Payload this rank hands in or takes out.
    pub fn bytes_moved(&self) -> usize {
        let many = matches!(self.call.kind(), Kind::Allgather | Kind::Alltoall | Kind::ReduceScatterBlock);
        self.call.bytes * if many { self.layout().ranks() } else { 1 }
    }
}

impl Piece {
    fn is_done(&self) -> bool {
        self.is_posted && self.parts.iter().flatten().all(Part::is_done)
    }
}
