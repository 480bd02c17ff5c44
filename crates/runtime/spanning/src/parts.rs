//! The parts that ranks have of a reduce-scatter's vector, or the blocks of an allgather, and how a
//! call with such parts is cut.
//!
//! All members know all parts. A large vector is carried in pieces that have some of every rank's part,
//! so that each node needs only what is its ranks'. Where that would send much that is nobody's (parts
//! of very different length are filled up to the longest), or gain nothing because the vector is short,
//! every node is sent the whole vector.
//!
//! A piece of an allgather has of each block what lies in the same stretch of it. A node's ranks' parts
//! follow each other without gaps; nodes' parts are as far apart as the largest is long.

use super::layout::Layout;
use crate::collective::call::{Call, Kind, Span};
use crate::copy::copy;

/// How a reduce-scatter is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Whether every node gets the whole vector: then it is the vector that is cut, otherwise the longest
    /// part.
    pub whole: bool,
    /// Bytes of what is cut.
    pub total: usize,
    /// Bytes of it in each piece but the last.
    pub slice: usize,
}

/// Shorter vectors go to all nodes whole.
const SHORT: usize = 2048;

/// The parts of one call.
#[derive(Clone, Copy)]
pub struct Shares<'a> {
    pub call: &'a Call,
    pub layout: &'a Layout,
}

impl Shares<'_> {
    /// Where a rank's part lies in the vector, or its block in what is received.
    pub fn of(&self, rank: usize) -> Span {
        match self.call.kind() {
            Kind::ReduceScatterBlock => {
                Span { offset: (rank * self.call.bytes) as isize, bytes: self.call.bytes }
            }
            // SAFETY: the front end provides a span for each rank.
            _ => unsafe { self.call.recv_span(rank) },
        }
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        (0..self.layout.ranks()).map(|rank| self.of(rank).bytes)
    }

    /// The longest part.
    pub fn longest(&self) -> usize {
        self.all().max().unwrap_or(0)
    }

    /// How many bytes a rank's part has from `at` on, `length` of them at most.
    pub fn bytes_in(&self, rank: usize, at: usize, length: usize) -> usize {
        self.of(rank).bytes.saturating_sub(at).min(length)
    }

    /// What such a stretch of all blocks comes to at the node that has most of it.
    pub fn most_of_a_node(&self, at: usize, length: usize) -> usize {
        let of = |node: usize| self.layout.members(node).map(|rank| self.bytes_in(rank, at, length)).sum();
        (0..self.layout.nodes.len()).map(of).max().unwrap_or(0)
    }

    /// Puts such a stretch of all blocks, as it has come from all nodes, where the program wants it.
    pub fn put(&self, gathered: &[u8], at: usize, length: usize) {
        let apart = gathered.len() / self.layout.nodes.len();
        for node in 0..self.layout.nodes.len() {
            let mut from = node * apart;
            for rank in self.layout.members(node) {
                let bytes = self.bytes_in(rank, at, length);
                let place = self.call.recv.wrapping_offset(self.of(rank).offset).wrapping_add(at);
                // SAFETY: the block is within what the program receives into.
                unsafe { copy(gathered[from..from + bytes].as_ptr(), place, bytes) };
                from += bytes;
            }
        }
    }

    /// How a reduce-scatter of elements of `width` bytes is cut into pieces of so many bytes; `at_once`: it
    /// is to be one piece.
    pub fn cut(&self, width: usize, piece: usize, at_once: bool) -> Cut {
        let (vector, longest, places) = (self.all().sum::<usize>(), self.longest(), self.places());
        let slice = piece / places / width * width;
        let worth_it =
            vector > SHORT && slice > 0 && longest.saturating_mul(places) <= vector.saturating_mul(2);
        if worth_it && (longest <= slice || !at_once) {
            Cut { whole: false, total: longest, slice }
        } else {
            Cut { whole: true, total: vector, slice: piece / width * width }
        }
    }

    /// Places for parts in a piece: as many for each node as the largest has ranks.
    fn places(&self) -> usize {
        self.layout.nodes.len() * self.layout.most()
    }

    /// Of every rank's part the bytes from `at` on, `length` of them, in its place; what is nobody's is 0.
    pub fn packed(&self, at: usize, length: usize) -> Vec<u8> {
        let mut packed = vec![0; self.places() * length];
        for (rank, &(node, seat)) in self.layout.seats.iter().enumerate() {
            let span = self.of(rank);
            let bytes = self.bytes_in(rank, at, length);
            let place = (node as usize * self.layout.most() + seat as usize) * length;
            // SAFETY: the part is within the vector that the program hands in.
            let part = unsafe {
                std::slice::from_raw_parts(
                    self.call.send.wrapping_offset(span.offset).wrapping_add(at),
                    bytes,
                )
            };
            packed[place..place + bytes].copy_from_slice(part);
        }
        packed
    }

    /// What a piece has of `rank`'s part: where in the result it belongs, where in the piece it lies, and
    /// its length. `at` and `length` are of what is cut.
    pub fn mine(&self, cut: Cut, rank: usize, at: usize, length: usize) -> (usize, usize, usize) {
        let span = self.of(rank);
        if !cut.whole {
            let seat = self.layout.seats[rank].1 as usize;
            return (at.min(span.bytes), seat * length, span.bytes.saturating_sub(at).min(length));
        }
        let begin = span.offset as usize;
        let (from, to) = (at.max(begin), (at + length).min(begin + span.bytes));
        if from < to { (from - begin, from - at, to - from) } else { (0, 0, 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(kind: Kind, bytes: usize, send: &[u8], spans: &[Span]) -> Call {
        Call { kind: kind as u32, bytes, send: send.as_ptr(), recv_spans: spans.as_ptr(), ..Call::barrier() }
    }

    fn spans(lengths: &[usize]) -> Vec<Span> {
        lengths
            .iter()
            .scan(0, |sum, bytes| {
                Some(Span { offset: std::mem::replace(sum, *sum + *bytes as isize), bytes: *bytes })
            })
            .collect()
    }

    /// Every part is put together from its pieces, whatever the parts, the layout and the way.
    #[test]
    fn every_rank_gets_its_part() {
        let ragged = [[2400, 2400, 2392, 2400, 2400], [9000, 16, 0, 8, 24], [8, 0, 0, 0, 0], [0; 5]];
        let mut ways = [0, 0];
        for layout in [Layout::new(&[0, 0, 1, 1, 2]), Layout::new(&[0, 1, 0, 1, 0])] {
            for lengths in ragged {
                let spans = spans(&lengths);
                let vector: Vec<u8> =
                    (0..lengths.iter().sum::<usize>()).map(|i| (i * 7 % 251) as u8).collect();
                let call = call(Kind::ReduceScatter, vector.len(), &vector, &spans);
                let shares = Shares { call: &call, layout: &layout };
                for (piece, at_once) in [(4096, false), (1 << 16, true)] {
                    let cut = shares.cut(8, piece, at_once);
                    ways[cut.whole as usize] += 1;
                    assert!(!at_once || cut.total <= cut.slice);
                    for rank in 0..5 {
                        let (mut part, node) = (vec![0xee; lengths[rank]], layout.seats[rank].0 as usize);
                        for at in (0..cut.total).step_by(cut.slice) {
                            let length = cut.slice.min(cut.total - at);
                            let came = if cut.whole {
                                vector[at..at + length].to_vec()
                            } else {
                                let packed = shares.packed(at, length);
                                assert!(packed.len() <= piece);
                                packed.chunks(layout.most() * length).nth(node).unwrap().to_vec()
                            };
                            let (to, from, bytes) = shares.mine(cut, rank, at, length);
                            part[to..to + bytes].copy_from_slice(&came[from..from + bytes]);
                        }
                        assert_eq!(
                            part,
                            vector[spans[rank].offset as usize..][..lengths[rank]],
                            "rank {rank} of {lengths:?}, {cut:?}"
                        );
                    }
                }
            }
        }
        assert!(ways[0] > 0 && ways[1] > 0, "both ways are taken: {ways:?}");
    }

    /// Blocks of any lengths come out of their pieces, and nothing beside them is written.
    #[test]
    fn blocks_are_put_where_they_belong() {
        for layout in [Layout::new(&[0, 0, 1, 1, 2]), Layout::new(&[0, 1, 0, 1, 0])] {
            for lengths in [[10, 300, 0, 7, 50], [0; 5], [0, 0, 0, 0, 99], [64; 5]] {
                let spans: Vec<Span> = lengths
                    .iter()
                    .enumerate()
                    .map(|(rank, bytes)| Span { offset: (4 - rank as isize) * 400, bytes: *bytes })
                    .collect();
                let mut received = vec![0xee; 2000];
                let call = Call { recv: received.as_mut_ptr(), ..call(Kind::Allgatherv, 0, &[], &spans) };
                let shares = Shares { call: &call, layout: &layout };
                let byte = |rank: usize, i: usize| (rank * 31 + i * 7) as u8;
                for at in (0..shares.longest()).step_by(64) {
                    let apart = shares.most_of_a_node(at, 64);
                    let mut gathered = vec![0; apart * layout.nodes.len()];
                    for (node, place) in gathered.chunks_mut(apart.max(1)).enumerate() {
                        let own: Vec<u8> = layout
                            .members(node)
                            .flat_map(|rank| {
                                (at..at + shares.bytes_in(rank, at, 64)).map(move |i| byte(rank, i))
                            })
                            .collect();
                        place[..own.len()].copy_from_slice(&own);
                    }
                    shares.put(&gathered, at, 64);
                }
                let mut wanted = vec![0xee; 2000];
                (0..5).for_each(|rank| {
                    (0..lengths[rank]).for_each(|i| wanted[(4 - rank) * 400 + i] = byte(rank, i))
                });
                assert!(received == wanted, "{lengths:?}");
            }
        }
    }

    #[test]
    fn what_is_filled_up_is_bounded() {
        let layout = Layout::new(&[0, 0, 1, 1]);
        let whole = |lengths: &[usize]| {
            let (spans, vector) = (spans(lengths), vec![0; lengths.iter().sum()]);
            Shares { call: &call(Kind::ReduceScatter, vector.len(), &vector, &spans), layout: &layout }
                .cut(8, 1 << 16, false)
                .whole
        };
        assert!(!whole(&[8000; 4]) && !whole(&[8000, 8000, 4000, 8]), "about equal parts");
        assert!(whole(&[32000, 0, 0, 0]), "three places of four would be empty");
        assert!(whole(&[8; 4]), "short");
    }
}
