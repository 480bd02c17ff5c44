//! The parts that ranks have of a reduce-scatter's vector, and how a call with such parts is cut.
//!
//! All members know all parts. A large vector is carried in pieces that have some of every rank's part, so that each node needs only what is its ranks'.
//! Where that would send much that is nobody's (parts of very different length are filled up to the longest), or gain nothing because the vector is short,
//! every node is sent the whole vector.

use super::layout::Layout;
use crate::call::{Call, Kind, Span};

/// How a reduce-scatter is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Whether every node gets the whole vector: then it is the vector that is cut, otherwise the longest part.
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
    /// Where a rank's part lies in the vector.
    pub fn of(&self, rank: usize) -> Span {
        match self.call.kind() {
            Kind::ReduceScatterBlock => Span { offset: (rank * self.call.bytes) as isize, bytes: self.call.bytes },
            // SAFETY: the front end provides a span for each rank.
            _ => unsafe { self.call.recv_span(rank) },
        }
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        (0..self.layout.ranks()).map(|rank| self.of(rank).bytes)
    }

    /// How a reduce-scatter of elements of `width` bytes is cut into pieces of so many bytes; `at_once`: it is to be one piece.
    pub fn cut(&self, width: usize, piece: usize, at_once: bool) -> Cut {
        let (vector, longest, places) = (self.all().sum::<usize>(), self.all().max().unwrap_or(0), self.places());
        let slice = piece / places / width * width;
        let worth_it = vector > SHORT && slice > 0 && longest.saturating_mul(places) <= vector.saturating_mul(2);
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
            let bytes = span.bytes.saturating_sub(at).min(length);
            let place = (node as usize * self.layout.most() + seat as usize) * length;
            // SAFETY: the part is within the vector that the program hands in.
            let part = unsafe { std::slice::from_raw_parts(self.call.send.wrapping_offset(span.offset).wrapping_add(at), bytes) };
            packed[place..place + bytes].copy_from_slice(part);
        }
        packed
    }

    /// What a piece has of `rank`'s part: where in the result it belongs, where in the piece it lies, and its length. `at` and `length` are of what is cut.
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
        lengths.iter().scan(0, |sum, bytes| Some(Span { offset: std::mem::replace(sum, *sum + *bytes as isize), bytes: *bytes })).collect()
    }

    /// Every part is put together from its pieces, whatever the parts, the layout and the way.
    #[test]
    fn every_rank_gets_its_part() {
        let ragged = [[2400, 2400, 2392, 2400, 2400], [9000, 16, 0, 8, 24], [8, 0, 0, 0, 0], [0; 5]];
        let mut ways = [0, 0];
        for layout in [Layout::new(&[0, 0, 1, 1, 2]), Layout::new(&[0, 1, 0, 1, 0])] {
            for lengths in ragged {
                let spans = spans(&lengths);
                let vector: Vec<u8> = (0..lengths.iter().sum::<usize>()).map(|i| (i * 7 % 251) as u8).collect();
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
                        assert_eq!(part, vector[spans[rank].offset as usize..][..lengths[rank]], "rank {rank} of {lengths:?}, {cut:?}");
                    }
                }
            }
        }
        assert!(ways[0] > 0 && ways[1] > 0, "both ways are taken: {ways:?}");
    }

    #[test]
    fn what_is_filled_up_is_bounded() {
        let layout = Layout::new(&[0, 0, 1, 1]);
        let whole = |lengths: &[usize]| {
            let (spans, vector) = (spans(lengths), vec![0; lengths.iter().sum()]);
            Shares { call: &call(Kind::ReduceScatter, vector.len(), &vector, &spans), layout: &layout }.cut(8, 1 << 16, false).whole
        };
        assert!(!whole(&[8000; 4]) && !whole(&[8000, 8000, 4000, 8]), "about equal parts");
        assert!(whole(&[32000, 0, 0, 0]), "three places of four would be empty");
        assert!(whole(&[8; 4]), "short");
    }
}
