//! One collective call of all ranks of a communicator, with their buffers, and what MPI says that becomes of
//! them.

use crate::elements::{ELEMENT, composed, summed};
use evenkeel_spanning::CollectiveKind::*;
use evenkeel_spanning::cut::piece_bytes;
use evenkeel_spanning::parts::{PartSpans, Parts};
use evenkeel_spanning::{CollectiveKind, NodeMap, Span, SpanningCall};

/// What is called, and the ranks that call it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub kind: CollectiveKind,
    /// The node of each rank.
    pub node_of: &'static [u32],
    pub root: usize,
    /// Elements of the vector or of one block, where all ranks' are equal.
    pub elements: usize,
    /// Where they are not equal: which lengths they have.
    pub lengths: Lengths,
}

/// Lengths of parts of a reduce-scatter or blocks of an allgather.
#[derive(Clone, Copy, Debug)]
pub enum Lengths {
    /// A reduce-scatter sends the whole vector to every node.
    Short,
    /// A reduce-scatter sends every node its own parts.
    Long,
    /// Most of the vector is one rank's.
    Unequal,
}

impl Lengths {
    fn elements(self, rank: usize) -> usize {
        match self {
            Lengths::Short => 3,
            Lengths::Long => 300 + rank,
            Lengths::Unequal if rank == 1 => 900,
            Lengths::Unequal => rank,
        }
    }
}

/// The call of all ranks.
pub struct Program {
    pub kind: CollectiveKind,
    pub root: usize,
    pub map: NodeMap,
    pub piece_bytes: usize,
    pub send: Vec<Vec<u8>>,
    pub recv: Vec<Vec<u8>>,
    /// Bytes of the vector, or of one block.
    bytes: usize,
    spans: Vec<Span>,
}

/// What a receive buffer holds before the call.
const UNTOUCHED: u8 = 0xee;

impl Program {
    pub fn new(case: Case) -> Program {
        let Case { kind, root, .. } = case;
        let map = NodeMap::new(case.node_of);
        let ranks = map.ranks();
        let spans = spans(case, ranks);
        let vector = spans.last().map_or(0, |span| span.offset as usize + span.bytes);
        let bytes = match kind {
            Barrier => 0,
            ReduceScatter | Allgatherv => vector,
            _ => case.elements * ELEMENT,
        };
        // Small pieces, so that there are several of them.
        let limit = piece_bytes(kind, bytes.min(4096), Some(ELEMENT), false, &map).expect("it is carried");
        let (send_bytes, recv_bytes) = match kind {
            Alltoall => (bytes * ranks, bytes * ranks),
            Scatter | ReduceScatterBlock => (bytes * ranks, bytes),
            Gather | Allgather => (bytes, bytes * ranks),
            _ => (bytes, bytes),
        };
        let send =
            |rank: usize| filled(rank, if kind == Allgatherv { spans[rank].bytes } else { send_bytes });
        let recv = |rank: usize| if kind == ReduceScatter { spans[rank].bytes } else { recv_bytes };
        Program {
            kind,
            root,
            piece_bytes: limit.min(5 * ELEMENT),
            send: (0..ranks).map(send).collect(),
            recv: (0..ranks).map(|rank| vec![UNTOUCHED; recv(rank)]).collect(),
            map,
            bytes,
            spans,
        }
    }

    fn parts(&self) -> Parts<'_> {
        let spans = match self.kind {
            ReduceScatterBlock => PartSpans::Equal(self.bytes),
            _ => PartSpans::Each(&self.spans),
        };
        Parts { spans, map: &self.map }
    }

    /// The call as one rank makes it.
    pub fn call(&self, rank: usize) -> SpanningCall<'_> {
        SpanningCall {
            kind: self.kind,
            root: self.root,
            bytes: if self.kind == Allgatherv { self.parts().of(rank).bytes } else { self.bytes },
            element_bytes: ELEMENT,
            parts: self.parts().spans,
            map: &self.map,
            rank,
        }
    }

    pub fn is_scan(&self) -> bool {
        matches!(self.kind, Scan | Exscan)
    }

    /// Combines contributions in their order; None if there are none. Only scans rely on the order: the
    /// operators that agents know commute, and nodes need not be in rank order.
    pub fn reduce<'b>(&self, contributions: impl IntoIterator<Item = &'b [u8]>) -> Option<Vec<u8>> {
        let combine = if self.is_scan() { composed } else { summed };
        contributions.into_iter().map(<[u8]>::to_vec).reduce(|left, right| combine(&left, &right))
    }

    /// What MPI says that each rank has in its receive buffer in the end. Before the call has been
    /// carried out.
    pub fn expected(&self) -> Vec<Vec<u8>> {
        (0..self.map.ranks()).map(|rank| self.expected_at(rank)).collect()
    }

    fn expected_at(&self, me: usize) -> Vec<u8> {
        let all = || self.send.iter().map(Vec::as_slice);
        let block = |of: usize, index: usize| &self.send[of][index * self.bytes..][..self.bytes];
        match self.kind {
            Bcast if me != self.root => self.send[self.root].clone(),
            Reduce if me == self.root => self.reduce(all()).unwrap(),
            Gather if me == self.root => self.send.concat(),
            Allreduce => self.reduce(all()).unwrap(),
            ReduceScatter | ReduceScatterBlock => {
                let Span { offset, bytes } = self.parts().of(me);
                self.reduce(all().map(|vector| &vector[offset as usize..][..bytes])).unwrap()
            }
            Scan => self.reduce(all().take(me + 1)).unwrap(),
            Exscan if me > 0 => self.reduce(all().take(me)).unwrap(),
            Allgather => self.send.concat(),
            Scatter => block(self.root, me).to_vec(),
            Alltoall => (0..self.map.ranks()).flat_map(|from| block(from, me)).copied().collect(),
            Allgatherv => {
                let mut received = self.recv[me].clone();
                for (span, block) in self.spans.iter().zip(&self.send) {
                    received[span.offset as usize..][..span.bytes].copy_from_slice(block);
                }
                received
            }
            _ => self.recv[me].clone(),
        }
    }
}

/// Where each rank's part lies; blocks of an allgather have gaps between them, which stay untouched.
fn spans(case: Case, ranks: usize) -> Vec<Span> {
    let gap = if case.kind == Allgatherv { ELEMENT as isize } else { 0 };
    let mut end = 0;
    let span = |rank| {
        let span = Span { offset: end + gap, bytes: case.lengths.elements(rank) * ELEMENT };
        end = span.offset + span.bytes as isize;
        span
    };
    (0..ranks).map(span).collect()
}

/// Data of a rank, in which no two stretches are alike.
fn filled(rank: usize, length: usize) -> Vec<u8> {
    (0..length).map(|i| (rank * 89 + i * 31 + i / 7 + 1) as u8 | u8::from(i % 4 == 0)).collect()
}
