//! A rank's part in a collective across nodes: pieces, each of one or two collectives among the ranks of
//! its node and their agent.
//!
//! [`stages`] says which collectives these are. The agent is the last member of the communicator on the
//! node. A rank does not stay for the end of a collective that brings data up to the agent: once it has
//! deposited its contribution, that is done. A large call is cut into pieces by what all members know alike,
//! and several pieces are under way at once.

use super::staged_buffers::StagedBuffers;
use crate::collective::call::{Call, CollectiveKind as Kind};
use crate::collective::operation::Operation;
use crate::collective::plan::plan;
use crate::comm::part::NodePart;
use crate::comm::state::State;
use evenkeel_segment::board::call_queue::CONTENT_BITS;
use evenkeel_spanning::cut::{Cut, Piece};
use evenkeel_spanning::description::WORD_BITS;
use evenkeel_spanning::parts::PartSpans;
use evenkeel_spanning::stages::stages;
use evenkeel_spanning::{LocalCollective, LocalMember, NodeMap, SpanningCall, Stages};
use std::collections::VecDeque;
use std::sync::Arc;

/// Pieces of one call that are under way at once.
const MAX_UNDER_WAY: usize = 4;

const _: () = assert!(WORD_BITS <= CONTENT_BITS, "a description fits into the call queue's words");

/// One collective call across nodes, under way.
pub struct SpanningOperation {
    call: Call,
    map: Arc<NodeMap>,
    rank: usize,
    cut: Cut,
    operator: u8,
    /// Pieces that have begun.
    begun: usize,
    under_way: VecDeque<PieceUnderWay>,
}

/// What is under way of one piece.
struct PieceUnderWay {
    /// Its number among all pieces that are called on the communicator.
    number: u64,
    /// Its description, for the call queue.
    words: [u64; 2],
    is_posted: bool,
    /// Up to the agent, and down from it.
    local: [Option<Operation>; 2],
    buffers: StagedBuffers,
}

impl SpanningOperation {
    /// Part of `rank` in a call with this operator (by number, or 0) that
    /// [`piece_bytes`](evenkeel_spanning::cut::piece_bytes) has accepted.
    pub fn new(
        call: Call,
        operator: u8,
        map: Arc<NodeMap>,
        rank: usize,
        piece_bytes: usize,
        nonblocking: bool,
    ) -> SpanningOperation {
        let cut = spanning_call(&call, &map, rank).cut(piece_bytes, nonblocking);
        SpanningOperation { call, map, rank, cut, operator, begun: 0, under_way: VecDeque::new() }
    }

    /// Moves on as far as possible; true when this rank's part is done. `part`: of the ranks here and the
    /// agent.
    pub fn poll(&mut self, part: &NodePart, state: &mut State) -> bool {
        loop {
            while self.begun < self.cut.pieces() && self.under_way.len() < MAX_UNDER_WAY {
                let piece = self.begin(part, state);
                self.under_way.push_back(piece);
                self.begun += 1;
            }
            self.advance(part, state);
            let mut moved = false;
            while self.under_way.front().is_some_and(PieceUnderWay::is_done) {
                let piece = self.under_way.pop_front().expect("there is a first one");
                let is_first_here = self.map.locations[self.rank].local_rank == 0;
                piece.buffers.unstage(&self.call, is_first_here);
                moved = true;
            }
            if self.under_way.is_empty() && self.begun == self.cut.pieces() {
                return true;
            }
            if !moved {
                return false;
            }
        }
    }

    /// Posts the pieces that are under way, moves them on, and wakes the agent if there is news for it.
    fn advance(&mut self, part: &NodePart, state: &mut State) {
        let mut is_news = false;
        for piece in &mut self.under_way {
            if !piece.is_posted {
                if !part.shared.board.call_queue().post(piece.number, piece.words) {
                    break;
                }
                piece.is_posted = true;
                is_news = true;
            }
            for local in piece.local.iter_mut().flatten() {
                let before = local.has_entered();
                local.poll(part, state);
                is_news |= local.has_entered() != before;
            }
        }
        if is_news {
            part.shared.notify_agent();
        }
    }

    /// Begins the next piece: takes its number and those of its collectives within the node.
    fn begin(&self, part: &NodePart, state: &mut State) -> PieceUnderWay {
        let piece = self.cut.piece(self.begun);
        let shape = spanning_call(&self.call, &self.map, self.rank);
        let description = shape.describe(piece, self.operator);
        let stages = stages(&description, self.map.position(self.map.node_of(self.rank)));
        let mut buffers = StagedBuffers::new(&self.call, &shape, piece);
        let calls = self.local_calls(&stages, &shape, part.ranks, &mut buffers, piece);
        PieceUnderWay {
            number: state.next_posted(),
            words: description.to_words(),
            is_posted: false,
            local: calls.map(|call| call.map(|call| reserve(part, state, call))),
            buffers,
        }
    }

    /// This rank's calls of the collectives within the node: up, and down.
    fn local_calls(
        &self,
        stages: &Stages,
        shape: &SpanningCall<'_>,
        ranks: usize,
        buffers: &mut StagedBuffers,
        piece: Piece,
    ) -> [Option<Call>; 2] {
        let call = &self.call;
        let member = |member| match member {
            LocalMember::Agent => ranks - 1,
            LocalMember::Rank(local_rank) => local_rank,
        };
        let local = |local: LocalCollective, send: *const u8, recv: *mut u8| Call {
            kind: local.kind as u32,
            root: member(local.root) as i32,
            bytes: local.bytes,
            send,
            recv,
            send_spans: std::ptr::null(),
            recv_spans: std::ptr::null(),
            ..*call
        };
        let (send, recv) = (call.send.wrapping_add(piece.at), call.recv.wrapping_add(piece.at));
        let is_root = shape.rank == shape.root;
        let up = stages.up.map(|up| match up.kind {
            // Ranks get something as well.
            Kind::Bcast | Kind::Scan | Kind::Exscan => local(up, send, recv),
            Kind::Scatterv if is_root => Call {
                send_spans: buffers.scatter_spans(shape, call.send, piece),
                ..local(up, call.send, recv)
            },
            Kind::Scatterv => local(up, call.send, recv),
            Kind::Gather if shape.kind == Kind::Allgatherv => {
                Call { bytes: shape.own_block_bytes(piece), ..local(up, send, std::ptr::null_mut()) }
            }
            _ => local(up, buffers.send_pointer().unwrap_or(send), std::ptr::null_mut()),
        });
        let down = stages.down.map(|down| match down.kind {
            Kind::Reduce => local(down, send, recv),
            Kind::Gatherv if is_root => Call {
                recv_spans: buffers.gather_spans(shape, call.recv, piece),
                ..local(down, send, call.recv)
            },
            Kind::Gatherv => local(down, send, call.recv),
            _ => local(down, std::ptr::null(), buffers.receive_pointer().unwrap_or(recv)),
        });
        [up, down]
    }

    /// Payload that this rank contributes or gets.
    pub fn bytes_moved(&self) -> usize {
        let many = matches!(self.call.kind(), Kind::Allgather | Kind::Alltoall | Kind::ReduceScatterBlock);
        self.call.bytes * if many { self.map.ranks() } else { 1 }
    }
}

impl PieceUnderWay {
    fn is_done(&self) -> bool {
        self.is_posted && self.local.iter().flatten().all(Operation::is_done)
    }
}

/// One collective within the node.
fn reserve(part: &NodePart, state: &mut State, call: Call) -> Operation {
    // SAFETY: the spans of the kinds that have them are in the piece's buffers.
    let bytes = unsafe { call.common_bytes(part.ranks) };
    let shared = &part.shared;
    let plan = plan(call.kind(), bytes, call.elem_bytes, true, &shared.board.geometry, shared.facts)
        .expect("pieces are cut so that they fit the segment");
    Operation::reserve(part, state, call, plan, true)
}

/// The call as the arithmetic of pieces sees it.
fn spanning_call<'a>(call: &Call, map: &'a NodeMap, rank: usize) -> SpanningCall<'a> {
    let parts = match call.kind() {
        Kind::ReduceScatter | Kind::Allgatherv => {
            // SAFETY: the front end provides a span for each rank, until the call is complete.
            PartSpans::Each(unsafe { std::slice::from_raw_parts(call.recv_spans, map.ranks()) })
        }
        _ => PartSpans::Equal(call.bytes),
    };
    SpanningCall {
        kind: call.kind(),
        root: call.root as usize,
        bytes: call.bytes,
        element_bytes: call.elem_bytes,
        parts,
        map,
        rank,
    }
}
