//! A rank's part in a collective across nodes: pieces, each of which consists of one or two collectives
//! among the ranks of its node and their agent.
//!
//! [`stages`] defines these collectives. The agent is the last member of the communicator on the node. A
//! rank does not wait for the end of a collective that brings data up to the agent: its part is done when
//! it has deposited its contribution. A large call is cut into pieces using only facts that all members
//! know, and several pieces are in progress at once.

use super::staged_buffers::StagedBuffers;
use crate::collective::call::{Call, CollectiveKind as Kind};
use crate::collective::operation::NodeOperation;
use crate::collective::plan::plan;
use crate::comm::part::NodePart;
use crate::comm::state::PartState;
use evenkeel_segment::board::call_queue::CONTENT_BITS;
use evenkeel_spanning::cut::{Cut, Piece};
use evenkeel_spanning::description::WORD_BITS;
use evenkeel_spanning::parts::PartSpans;
use evenkeel_spanning::stages::stages;
use evenkeel_spanning::{LocalCollective, LocalMember, NodeMap, SpanningCall, Stages};
use std::collections::VecDeque;
use std::sync::Arc;

/// How many pieces of one call may be in progress at once.
const MAX_IN_PROGRESS: usize = 4;

const _: () = assert!(WORD_BITS <= CONTENT_BITS, "a description fits into the call queue's words");

/// A collective call across nodes that is in progress.
pub struct SpanningOperation {
    call: Call,
    map: Arc<NodeMap>,
    rank: usize,
    cut: Cut,
    operator: u8,
    /// How many pieces have been started.
    started: usize,
    in_progress: VecDeque<PieceInProgress>,
}

/// A piece that is in progress.
struct PieceInProgress {
    /// Its number among all pieces of the communicator.
    number: u64,
    /// Its description, as words for the call queue.
    words: [u64; 2],
    is_posted: bool,
    /// The collective that brings data up to the agent, and the one that brings data down.
    local: [Option<NodeOperation>; 2],
    buffers: StagedBuffers,
}

impl SpanningOperation {
    /// The part of `rank` in a call that [`piece_bytes`](evenkeel_spanning::cut::piece_bytes) has accepted.
    /// `operator` is the operator's number, or 0.
    pub fn new(
        call: Call,
        operator: u8,
        map: Arc<NodeMap>,
        rank: usize,
        piece_bytes: usize,
        nonblocking: bool,
    ) -> SpanningOperation {
        let cut = spanning_call(&call, &map, rank).cut(piece_bytes, nonblocking);
        SpanningOperation { call, map, rank, cut, operator, started: 0, in_progress: VecDeque::new() }
    }

    /// Makes as much progress as is possible now. Returns true when this rank has finished. `part` has the
    /// ranks here and the agent as members.
    pub fn poll(&mut self, part: &NodePart, state: &mut PartState) -> bool {
        loop {
            while self.started < self.cut.pieces() && self.in_progress.len() < MAX_IN_PROGRESS {
                let piece = self.start_next(part, state);
                self.in_progress.push_back(piece);
                self.started += 1;
            }
            self.advance(part, state);
            let mut moved = false;
            while self.in_progress.front().is_some_and(PieceInProgress::is_done) {
                let piece = self.in_progress.pop_front().expect("there is a first one");
                let is_first_here = self.map.locations[self.rank].local_rank == 0;
                piece.buffers.unstage(&self.call, is_first_here);
                moved = true;
            }
            if self.in_progress.is_empty() && self.started == self.cut.pieces() {
                return true;
            }
            if !moved {
                return false;
            }
        }
    }

    /// Posts the pieces that are in progress, polls their collectives, and wakes the agent if it has
    /// something new to do.
    fn advance(&mut self, part: &NodePart, state: &mut PartState) {
        let mut agent_has_work = false;
        for piece in &mut self.in_progress {
            if !piece.is_posted {
                if !part.shared.board.call_queue().post(piece.number, piece.words) {
                    break;
                }
                piece.is_posted = true;
                agent_has_work = true;
            }
            for local in piece.local.iter_mut().flatten() {
                let before = local.has_entered();
                local.poll(part, state);
                agent_has_work |= local.has_entered() != before;
            }
        }
        if agent_has_work {
            part.shared.notify_agent();
        }
    }

    /// Starts the next piece: reserves its number and the instances of its collectives within the node.
    fn start_next(&self, part: &NodePart, state: &mut PartState) -> PieceInProgress {
        let piece = self.cut.piece(self.started);
        let shape = spanning_call(&self.call, &self.map, self.rank);
        let description = shape.describe(piece, self.operator);
        let stages = stages(&description, self.map.position(self.map.node_of(self.rank)));
        let mut buffers = StagedBuffers::new(&self.call, &shape, piece);
        let calls = self.local_calls(&stages, &shape, part.ranks, &mut buffers, piece);
        PieceInProgress {
            number: state.next_posted(),
            words: description.to_words(),
            is_posted: false,
            local: calls.map(|call| call.map(|call| reserve(part, state, call))),
            buffers,
        }
    }

    /// This rank's calls of the two collectives within the node: up and down.
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
            // In these kinds ranks receive data as well.
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

    /// The number of payload bytes that this rank contributes or receives.
    pub fn bytes_moved(&self) -> usize {
        let many = matches!(self.call.kind(), Kind::Allgather | Kind::Alltoall | Kind::ReduceScatterBlock);
        self.call.bytes * if many { self.map.ranks() } else { 1 }
    }
}

impl PieceInProgress {
    fn is_done(&self) -> bool {
        self.is_posted && self.local.iter().flatten().all(NodeOperation::is_done)
    }
}

/// Reserves the instances of one collective within the node.
fn reserve(part: &NodePart, state: &mut PartState, call: Call) -> NodeOperation {
    // SAFETY: the spans of the kinds that have them are in the piece's buffers.
    let bytes = unsafe { call.common_bytes(part.ranks) };
    let shared = &part.shared;
    let plan = plan(call.kind(), bytes, call.elem_bytes, true, &shared.board.geometry, shared.facts)
        .expect("pieces are cut so that they fit the segment");
    NodeOperation::reserve(part, state, call, plan, true)
}

/// The call in the form that the computation of pieces needs.
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
