//! The normal form of a map: a tree of loops. The first byte of a node, in the order of packing, is at
//! displacement 0 of the node.

use crate::error::LayoutError;

/// How deeply nodes may be nested. It bounds the stack of packing.
pub(crate) const DEEPEST: usize = 24;

/// How many pieces, offsets and parts a tree may hold: 1 MiB of pieces.
pub(crate) const MOST_ENTRIES: usize = 1 << 16;

/// A piece of an irregular list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Piece {
    /// Displacement of its first byte.
    pub(crate) at: isize,
    /// How many packed bytes are before it.
    pub(crate) start: usize,
}

/// A part of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    pub(crate) at: isize,
    pub(crate) start: usize,
    pub(crate) node: Node,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// Consecutive bytes, at least one.
    Run(usize),
    /// The body at displacements 0, stride, 2 * stride, ...; at least twice.
    Loop { count: usize, stride: isize, bytes: usize, body: Box<Node> },
    /// Runs of `run` bytes at these displacements.
    List { run: usize, offsets: Box<[isize]> },
    /// Runs of different length. One ends where the next one starts, the last one at `bytes`.
    Pieces { bytes: usize, pieces: Box<[Piece]> },
    /// One node after the other.
    Sequence { bytes: usize, parts: Box<[Part]> },
}

impl Node {
    /// How many bytes it packs.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Node::Run(bytes)
            | Node::Loop { bytes, .. }
            | Node::Pieces { bytes, .. }
            | Node::Sequence { bytes, .. } => *bytes,
            Node::List { run, offsets } => run * offsets.len(),
        }
    }

    /// Where the run that is packed last ends.
    pub(crate) fn end(&self) -> isize {
        match self {
            Node::Run(bytes) => *bytes as isize,
            Node::Loop { count, stride, body, .. } => (*count as isize - 1) * stride + body.end(),
            Node::List { run, offsets } => offsets[offsets.len() - 1] + *run as isize,
            Node::Pieces { bytes, pieces } => {
                let last = pieces[pieces.len() - 1];
                last.at + (bytes - last.start) as isize
            }
            Node::Sequence { parts, .. } => {
                let last = &parts[parts.len() - 1];
                last.at + last.node.end()
            }
        }
    }

    /// How many runs it has; `usize::MAX` if that is too large a number.
    pub(crate) fn runs(&self) -> usize {
        match self {
            Node::Run(_) => 1,
            Node::Loop { count, body, .. } => count.saturating_mul(body.runs()),
            Node::List { offsets, .. } => offsets.len(),
            Node::Pieces { pieces, .. } => pieces.len(),
            Node::Sequence { parts, .. } => {
                parts.iter().fold(0, |sum: usize, part| sum.saturating_add(part.node.runs()))
            }
        }
    }

    /// Calls a function with each run's displacement, `at` further on, and its length, in the order of
    /// packing.
    pub(crate) fn each_run(&self, at: isize, run: &mut impl FnMut(isize, usize)) {
        match self {
            Node::Run(bytes) => run(at, *bytes),
            Node::Loop { count, stride, body, .. } => {
                for number in 0..*count as isize {
                    body.each_run(at + number * stride, run);
                }
            }
            Node::List { run: bytes, offsets } => offsets.iter().for_each(|offset| run(at + offset, *bytes)),
            Node::Pieces { bytes, pieces } => {
                let ends = pieces.iter().skip(1).map(|piece| piece.start).chain([*bytes]);
                pieces.iter().zip(ends).for_each(|(piece, end)| run(at + piece.at, end - piece.start));
            }
            Node::Sequence { parts, .. } => parts.iter().for_each(|p| p.node.each_run(at + p.at, run)),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Node::Loop { body, .. } => 1 + body.depth(),
            Node::Sequence { parts, .. } => 1 + parts.iter().map(|p| p.node.depth()).max().unwrap_or(0),
            _ => 1,
        }
    }

    /// How many entries its lists have.
    pub(crate) fn entries(&self) -> usize {
        match self {
            Node::Run(_) => 0,
            Node::Loop { body, .. } => body.entries(),
            Node::List { offsets, .. } => offsets.len(),
            Node::Pieces { pieces, .. } => pieces.len(),
            Node::Sequence { parts, .. } => parts.iter().map(|p| 4 + p.node.entries()).sum(),
        }
    }

    /// Memory besides the node itself, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Node::Run(_) => 0,
            Node::Loop { body, .. } => size_of::<Node>() + body.memory_bytes(),
            Node::List { offsets, .. } => size_of_val(&**offsets),
            Node::Pieces { pieces, .. } => size_of_val(&**pieces),
            Node::Sequence { parts, .. } => {
                size_of_val(&**parts) + parts.iter().map(|p| p.node.memory_bytes()).sum::<usize>()
            }
        }
    }

    pub(crate) fn check(self) -> Result<Node, LayoutError> {
        let is_bounded = self.depth() <= DEEPEST && self.entries() <= MOST_ENTRIES;
        if is_bounded { Ok(self) } else { Err(LayoutError::TooComplex) }
    }

    /// Calls `each` with the displacement and length of each run, in the order of packing, until it returns
    /// false. Returns whether it never did.
    pub(crate) fn for_each_run(&self, at: isize, each: &mut impl FnMut(isize, usize) -> bool) -> bool {
        match self {
            Node::Run(bytes) => each(at, *bytes),
            Node::Loop { count, stride, body, .. } => {
                (0..*count as isize).all(|i| body.for_each_run(at + i * stride, each))
            }
            Node::List { run, offsets } => offsets.iter().all(|offset| each(at + offset, *run)),
            Node::Pieces { bytes, pieces } => pieces.iter().enumerate().all(|(i, piece)| {
                let end = pieces.get(i + 1).map_or(*bytes, |next| next.start);
                each(at + piece.at, end - piece.start)
            }),
            Node::Sequence { parts, .. } => {
                parts.iter().all(|part| part.node.for_each_run(at + part.at, each))
            }
        }
    }
}
