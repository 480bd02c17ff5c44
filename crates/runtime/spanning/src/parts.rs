//! Parts of unequal length: each rank's part of a reduce-scatter's vector, and each rank's block of an
//! allgather.
//!
//! All members know all parts. A large vector is carried in pieces that have some of every rank's part, so
//! that each node is sent only what its ranks need. Parts are padded to the longest one there. Where the
//! padding would be large because the lengths differ much, or the gain small because the vector is short,
//! every node is sent the whole vector instead.
//!
//! A piece of an allgather has the same stretch of every block. The stretches of one node's ranks follow
//! each other without gaps; the nodes' shares are padded to the largest.

use crate::cut::{Cut, Piece};
use crate::node_map::NodeMap;
use crate::span::Span;
use crate::staging::{Staging, Stretch};

/// Shorter vectors go to all nodes whole.
const SHORT_BYTES: usize = 2048;

/// Where each rank's part lies in the vector, or its block in what is received.
#[derive(Clone, Copy, Debug)]
pub enum PartSpans<'a> {
    /// All have this length and follow each other in rank order.
    Equal(usize),
    /// One span a rank.
    Each(&'a [Span]),
}

/// The parts of one call.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// Where they lie.
    pub spans: PartSpans<'a>,
    /// Which nodes their ranks are on.
    pub map: &'a NodeMap,
}

impl Parts<'_> {
    /// Where a rank's part lies in the vector, or its block in what is received.
    pub fn of(&self, rank: usize) -> Span {
        match self.spans {
            PartSpans::Equal(bytes) => Span { offset: (rank * bytes) as isize, bytes },
            PartSpans::Each(spans) => spans[rank],
        }
    }

    /// The length of each part.
    fn lengths(&self) -> impl Iterator<Item = usize> {
        (0..self.map.ranks()).map(|rank| self.of(rank).bytes)
    }

    /// The length of the longest part.
    pub fn longest(&self) -> usize {
        self.lengths().max().unwrap_or(0)
    }

    /// How many bytes the stretch of `length` bytes that begins at `at` has of a rank's part.
    pub fn bytes_in(&self, rank: usize, at: usize, length: usize) -> usize {
        self.of(rank).bytes.saturating_sub(at).min(length)
    }

    /// Bytes that such a stretch of all blocks has on the node that has most of it.
    pub fn largest_node_share(&self, at: usize, length: usize) -> usize {
        let share = |node: usize| self.map.members(node).map(|rank| self.bytes_in(rank, at, length)).sum();
        (0..self.map.counts.nodes()).map(share).max().unwrap_or(0)
    }

    /// How a reduce-scatter is cut: into pieces of `piece_bytes` at most, of whole elements of
    /// `element_bytes`. `one_piece`: it has to be carried in one.
    pub fn cut_reduce_scatter(&self, element_bytes: usize, piece_bytes: usize, one_piece: bool) -> Cut {
        let (vector, longest) = (self.lengths().sum::<usize>(), self.longest());
        let (places, whole_elements) = (self.places(), |bytes: usize| bytes / element_bytes * element_bytes);
        let stretch = whole_elements(piece_bytes / places);
        let is_worthwhile =
            vector > SHORT_BYTES && stretch > 0 && longest.saturating_mul(places) <= vector.saturating_mul(2);
        if is_worthwhile && (longest <= stretch || !one_piece) {
            Cut { whole_vector: false, total: longest, piece_bytes: stretch }
        } else {
            Cut { whole_vector: true, total: vector, piece_bytes: whole_elements(piece_bytes) }
        }
    }

    /// Places for parts in a piece: as many for each node as the largest node has ranks.
    fn places(&self) -> usize {
        self.map.counts.nodes() * self.map.counts.largest()
    }

    /// What a rank sends of a reduce-scatter that is not carried whole: of every rank's part the stretch
    /// of `length` bytes from `at` on, in that rank's place. Padding is 0.
    pub fn reduce_scatter_send(&self, at: usize, length: usize) -> Staging {
        let stretches = self.map.locations.iter().enumerate().map(|(rank, location)| {
            let place = location.node as usize * self.map.counts.largest() + location.local_rank as usize;
            Stretch {
                user: self.of(rank).offset + at as isize,
                staged: place * length,
                bytes: self.bytes_in(rank, at, length),
            }
        });
        Staging { bytes: self.places() * length, stretches: stretches.collect() }
    }

    /// What a rank receives of a reduce-scatter: the result for its node, of which it takes its own part.
    pub fn reduce_scatter_receive(&self, piece: Piece, rank: usize) -> Staging {
        let (part, Piece { whole_vector, at, length }) = (self.of(rank), piece);
        if !whole_vector {
            let place = self.map.locations[rank].local_rank as usize;
            let bytes = self.bytes_in(rank, at, length);
            let own = Stretch { user: at.min(part.bytes) as isize, staged: place * length, bytes };
            return Staging { bytes: self.map.counts.largest() * length, stretches: vec![own] };
        }
        let begin = part.offset as usize;
        let (from, to) = (at.max(begin), (at + length).min(begin + part.bytes));
        let own = (from < to).then(|| Stretch {
            user: (from - begin) as isize,
            staged: from - at,
            bytes: to - from,
        });
        Staging { bytes: length, stretches: Vec::from_iter(own) }
    }

    /// What a rank receives of an allgather of unequal blocks: the stretch of `length` bytes from `at` on
    /// of every block, as it has come from all nodes.
    pub fn allgather_receive(&self, at: usize, length: usize) -> Staging {
        let share = self.largest_node_share(at, length);
        let mut stretches = Vec::with_capacity(self.map.ranks());
        for node in 0..self.map.counts.nodes() {
            let mut staged = node * share;
            for rank in self.map.members(node) {
                let bytes = self.bytes_in(rank, at, length);
                stretches.push(Stretch { user: self.of(rank).offset + at as isize, staged, bytes });
                staged += bytes;
            }
        }
        Staging { bytes: share * self.map.counts.nodes(), stretches }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(lengths: &[usize]) -> Vec<Span> {
        let mut end = 0;
        let span = |bytes: &usize| {
            let offset = end;
            end += *bytes as isize;
            Span { offset, bytes: *bytes }
        };
        lengths.iter().map(span).collect()
    }

    /// What a rank's part becomes when it is put together from its pieces, each reduced over one rank.
    fn part_from_pieces(
        parts: &Parts<'_>,
        cut: Cut,
        rank: usize,
        vector: &[u8],
        piece_bytes: usize,
    ) -> Vec<u8> {
        let mut part = vec![0xee; parts.of(rank).bytes];
        for piece in (0..cut.pieces()).map(|index| cut.piece(index)) {
            let Piece { at, length, .. } = piece;
            let result = if cut.whole_vector {
                vector[at..at + length].to_vec()
            } else {
                let sent = parts.reduce_scatter_send(at, length).pack(vector);
                assert!(sent.len() <= piece_bytes);
                let for_node = sent.chunks(parts.map.counts.largest() * length);
                for_node.collect::<Vec<_>>()[parts.map.node_of(rank)].to_vec()
            };
            let received = parts.reduce_scatter_receive(piece, rank);
            assert_eq!(received.bytes, result.len());
            received.unpack(&result, &mut part);
        }
        part
    }

    /// Every part is put together from its pieces, whatever the lengths, the nodes and the cut.
    #[test]
    fn every_rank_gets_its_part() {
        let lengths = [[2400, 2400, 2392, 2400, 2400], [9000, 16, 0, 8, 24], [8, 0, 0, 0, 0], [0; 5]];
        let mut cuts = [0, 0];
        for map in [NodeMap::new(&[0, 0, 1, 1, 2]), NodeMap::new(&[0, 1, 0, 1, 0])] {
            for lengths in lengths {
                let spans = spans(&lengths);
                let vector: Vec<u8> =
                    (0..lengths.iter().sum::<usize>()).map(|i| (i * 7 % 251) as u8).collect();
                let parts = Parts { spans: PartSpans::Each(&spans), map: &map };
                for (piece, one_piece) in [(4096, false), (1 << 16, true)] {
                    let cut = parts.cut_reduce_scatter(8, piece, one_piece);
                    cuts[cut.whole_vector as usize] += 1;
                    assert!(!one_piece || cut.total <= cut.piece_bytes);
                    for rank in 0..5 {
                        assert_eq!(
                            part_from_pieces(&parts, cut, rank, &vector, piece),
                            vector[spans[rank].offset as usize..][..lengths[rank]],
                            "rank {rank} of {lengths:?}, {cut:?}"
                        );
                    }
                }
            }
        }
        assert!(cuts[0] > 0 && cuts[1] > 0, "both cuts are taken: {cuts:?}");
    }

    /// Blocks of any lengths come out of their pieces, and nothing beside them is written.
    #[test]
    fn blocks_are_put_where_they_belong() {
        for map in [NodeMap::new(&[0, 0, 1, 1, 2]), NodeMap::new(&[0, 1, 0, 1, 0])] {
            for lengths in [[10, 300, 0, 7, 50], [0; 5], [0, 0, 0, 0, 99], [64; 5]] {
                let place = |rank: usize| (4 - rank) * 400;
                let spans: Vec<Span> =
                    (0..5).map(|rank| Span { offset: place(rank) as isize, bytes: lengths[rank] }).collect();
                let parts = Parts { spans: PartSpans::Each(&spans), map: &map };
                let byte = |rank: usize, i: usize| (rank * 31 + i * 7) as u8;
                let mut received = vec![0xee; 2000];
                for at in (0..parts.longest()).step_by(64) {
                    let share = parts.largest_node_share(at, 64);
                    let mut gathered = vec![0; share * map.counts.nodes()];
                    for (node, place) in gathered.chunks_mut(share.max(1)).enumerate() {
                        let own: Vec<u8> = map
                            .members(node)
                            .flat_map(|rank| {
                                (at..at + parts.bytes_in(rank, at, 64)).map(move |i| byte(rank, i))
                            })
                            .collect();
                        place[..own.len()].copy_from_slice(&own);
                    }
                    parts.allgather_receive(at, 64).unpack(&gathered, &mut received);
                }
                let mut wanted = vec![0xee; 2000];
                for rank in 0..5 {
                    (0..lengths[rank]).for_each(|i| wanted[place(rank) + i] = byte(rank, i));
                }
                assert!(received == wanted, "{lengths:?}");
            }
        }
    }

    #[test]
    fn padding_is_bounded() {
        let map = NodeMap::new(&[0, 0, 1, 1]);
        let whole = |lengths: &[usize]| {
            let spans = spans(lengths);
            let parts = Parts { spans: PartSpans::Each(&spans), map: &map };
            parts.cut_reduce_scatter(8, 1 << 16, false).whole_vector
        };
        assert!(!whole(&[8000; 4]) && !whole(&[8000, 8000, 4000, 8]), "about equal parts");
        assert!(whole(&[32000, 0, 0, 0]), "three places of four would be empty");
        assert!(whole(&[8; 4]), "short");
    }
}
