//! The walk over the loops of a layout, from any byte to any byte.
//!
//! Where a part begins is found from its number: by division in loops, by halving in lists. So no state is
//! kept between two parts. The recursion is as deep as the tree, at most [`DEEPEST`](crate::node::DEEPEST).

use crate::kernels::{
    Column, Nest, copy, copy_long, has_kernel, move_column, move_list, move_nest, move_pieces,
};
use crate::node::Node;

/// `count` copies of a body, each `stride` bytes after the one before: elements, or a loop.
#[derive(Clone, Copy)]
pub(crate) struct Elements<'a> {
    pub(crate) count: usize,
    pub(crate) stride: isize,
    pub(crate) body: &'a Node,
}

/// Bodies with at most so many pieces are moved by columns.
const MOST_COLUMNS: usize = 16;

/// So many packed bytes are moved column by column at once: they stay in the first-level cache.
const COLUMNS_BYTES: usize = 8 * 1024;

#[inline(always)]
fn shifted(memory: *mut u8, stride: isize, times: usize) -> *mut u8 {
    memory.wrapping_offset(stride.wrapping_mul(times as isize))
}

/// Moves `bytes` bytes, from byte `from` of the packed ones on; there is at least one. `packed` is where that
/// byte is.
///
/// # Safety
/// `from + bytes` must be at most what the elements pack. What is moved must be valid, from `memory` on, and
/// `packed` for `bytes` bytes. See [`copy`].
pub(crate) unsafe fn move_bytes<const PACK: bool>(
    all: Elements,
    memory: *mut u8,
    packed: *mut u8,
    from: usize,
    bytes: usize,
) {
    let size = all.body.bytes();
    let (mut next, skipped) = if from == 0 { (0, 0) } else { (from / size, from % size) };
    let (mut packed, mut left) = (packed, bytes);
    // SAFETY: the caller's promise; each of the three parts is within it.
    unsafe {
        if skipped > 0 {
            let part = left.min(size - skipped);
            move_part::<PACK>(all.body, shifted(memory, all.stride, next), packed, skipped, part);
            (next, packed, left) = (next + 1, packed.wrapping_add(part), left - part);
        }
        let count = if left < size { 0 } else { left / size };
        if count > 0 {
            move_copies::<PACK>(Elements { count, ..all }, shifted(memory, all.stride, next), packed);
            (next, packed, left) = (next + count, packed.wrapping_add(count * size), left - count * size);
        }
        if left > 0 {
            move_part::<PACK>(all.body, shifted(memory, all.stride, next), packed, 0, left);
        }
    }
}

/// Moves a part of a node, of at least one byte.
///
/// # Safety
/// As for [`move_bytes`].
unsafe fn move_part<const PACK: bool>(
    node: &Node,
    memory: *mut u8,
    packed: *mut u8,
    from: usize,
    bytes: usize,
) {
    // SAFETY: the caller's promise; each part is within it.
    unsafe {
        match node {
            Node::Run(_) => copy::<PACK>(memory.wrapping_add(from), packed, bytes),
            Node::Loop { count, stride, body, .. } => {
                let all = Elements { count: *count, stride: *stride, body };
                move_bytes::<PACK>(all, memory, packed, from, bytes);
            }
            Node::List { run, offsets } => {
                let starts = |i: usize| (i * run, (i + 1) * run);
                let each = |i: usize, packed: *mut u8, from: usize, bytes: usize| {
                    copy::<PACK>(memory.wrapping_offset(offsets[i]).wrapping_add(from), packed, bytes);
                };
                move_listed(from / run, starts, each, packed, from, bytes);
            }
            Node::Pieces { bytes: all, pieces } => {
                let starts = |i: usize| (pieces[i].start, pieces.get(i + 1).map_or(*all, |p| p.start));
                let each = |i: usize, packed: *mut u8, from: usize, bytes: usize| {
                    copy::<PACK>(memory.wrapping_offset(pieces[i].at).wrapping_add(from), packed, bytes);
                };
                let first = pieces.partition_point(|p| p.start <= from) - 1;
                move_listed(first, starts, each, packed, from, bytes);
            }
            Node::Sequence { bytes: all, parts } => {
                let starts = |i: usize| (parts[i].start, parts.get(i + 1).map_or(*all, |p| p.start));
                let each = |i: usize, packed: *mut u8, from: usize, bytes: usize| {
                    let (node, memory) = (&parts[i].node, memory.wrapping_offset(parts[i].at));
                    move_part::<PACK>(node, memory, packed, from, bytes);
                };
                let first = parts.partition_point(|p| p.start <= from) - 1;
                move_listed(first, starts, each, packed, from, bytes);
            }
        }
    }
}

/// Calls `each` for each entry of which something is between byte `from` and byte `from + bytes`: with its
/// number, the place of the packed bytes, and which bytes of the entry these are. `starts` gives where an
/// entry starts and ends; the entry `first` contains byte `from`.
#[inline(always)]
fn move_listed(
    first: usize,
    starts: impl Fn(usize) -> (usize, usize),
    each: impl Fn(usize, *mut u8, usize, usize),
    packed: *mut u8,
    from: usize,
    bytes: usize,
) {
    let (mut entry, mut at, end) = (first, from, from + bytes);
    while at < end {
        let (start, next) = starts(entry);
        let part = end.min(next) - at;
        each(entry, packed.wrapping_add(at - from), at - start, part);
        (entry, at) = (entry + 1, at + part);
    }
}

/// Moves a node.
///
/// # Safety
/// All of it must be valid, from `memory` on, and `packed` for as many bytes. See [`copy`].
unsafe fn move_node<const PACK: bool>(node: &Node, memory: *mut u8, packed: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        match node {
            Node::Run(bytes) => copy::<PACK>(memory, packed, *bytes),
            Node::Loop { count, stride, body, .. } => {
                move_copies::<PACK>(Elements { count: *count, stride: *stride, body }, memory, packed);
            }
            Node::List { run, offsets } if has_kernel(*run) => {
                move_list::<PACK>(*run, memory, packed, offsets);
            }
            Node::List { run, offsets } => {
                for (i, offset) in offsets.iter().enumerate() {
                    copy_long::<PACK>(memory.wrapping_offset(*offset), packed.wrapping_add(i * run), *run);
                }
            }
            Node::Pieces { bytes, pieces } => move_pieces::<PACK>(memory, packed, pieces, *bytes),
            Node::Sequence { parts, .. } => {
                for part in parts {
                    let (memory, packed) = (memory.wrapping_offset(part.at), packed.wrapping_add(part.start));
                    move_node::<PACK>(&part.node, memory, packed);
                }
            }
        }
    }
}

/// Moves whole copies, at least one.
///
/// # Safety
/// As for [`move_node`].
unsafe fn move_copies<const PACK: bool>(all: Elements, memory: *mut u8, packed: *mut u8) {
    let Elements { count, stride, body } = all;
    // SAFETY: the caller's promise.
    unsafe {
        if let Some((run, nest)) = nest_of(all) {
            move_nest::<PACK>(run, memory, packed, &nest);
            return;
        }
        match body {
            Node::Run(run) if *run as isize == stride => return copy::<PACK>(memory, packed, run * count),
            // Those with a kernel are a nest.
            Node::Run(run) => {
                for i in 0..count {
                    copy_long::<PACK>(shifted(memory, stride, i), packed.wrapping_add(i * run), *run);
                }
                return;
            }
            Node::List { run, offsets } if has_kernel(*run) && offsets.len() <= MOST_COLUMNS && count > 3 => {
                let columns = || offsets.iter().enumerate().map(|(i, offset)| (*offset, i * run, *run));
                return move_columns::<PACK, _>(all, columns, memory, packed);
            }
            Node::Pieces { pieces, bytes } if count > 3 && has_short_columns(pieces, *bytes) => {
                let columns = || {
                    let end = |i: usize| pieces.get(i + 1).map_or(*bytes, |next| next.start);
                    pieces.iter().enumerate().map(move |(i, p)| (p.at, p.start, end(i) - p.start))
                };
                return move_columns::<PACK, _>(all, columns, memory, packed);
            }
            _ => {}
        }
        let bytes = body.bytes();
        for i in 0..count {
            move_node::<PACK>(body, shifted(memory, stride, i), packed.wrapping_add(i * bytes));
        }
    }
}

fn has_short_columns(pieces: &[crate::node::Piece], bytes: usize) -> bool {
    let ends = pieces.iter().skip(1).map(|piece| piece.start).chain([bytes]);
    pieces.len() <= MOST_COLUMNS && pieces.iter().zip(ends).all(|(piece, end)| has_kernel(end - piece.start))
}

/// Moves copies of a few short runs: first run of many copies, then the second run of these, and so on.
/// `columns` gives displacement, start among the packed bytes, and length of each run.
///
/// # Safety
/// As for [`move_node`].
#[inline(always)]
unsafe fn move_columns<const PACK: bool, I: Iterator<Item = (isize, usize, usize)>>(
    all: Elements,
    columns: impl Fn() -> I,
    memory: *mut u8,
    packed: *mut u8,
) {
    let packed_stride = all.body.bytes();
    let most = (COLUMNS_BYTES / packed_stride).max(1);
    let mut done = 0;
    while done < all.count {
        let count = most.min(all.count - done);
        let (memory, packed) = (shifted(memory, all.stride, done), packed.wrapping_add(done * packed_stride));
        let column = Column { count, stride: all.stride, packed_stride };
        for (offset, start, run) in columns() {
            // SAFETY: the caller's promise.
            unsafe {
                let (memory, packed) = (memory.wrapping_offset(offset), packed.wrapping_add(start));
                move_column::<PACK>(run, memory, packed, &column);
            }
        }
        done += count;
    }
}

/// Copies that are runs with a kernel at one to three strides: their length, and the nest.
#[inline(always)]
fn nest_of(all: Elements) -> Option<(usize, Nest)> {
    let is_short = |run: &usize| has_kernel(*run);
    let Elements { count, stride, body } = all;
    match body {
        Node::Run(run) if is_short(run) && *run as isize != stride => {
            Some((*run, Nest { counts: [count, 1, 1], strides: [stride, 0, 0] }))
        }
        Node::Loop { count: lines, stride: line, body, .. } => match &**body {
            Node::Run(run) if is_short(run) => {
                Some((*run, Nest { counts: [*lines, count, 1], strides: [*line, stride, 0] }))
            }
            Node::Loop { count: planes, stride: plane, body, .. } => match **body {
                Node::Run(run) if has_kernel(run) => {
                    Some((run, Nest { counts: [*planes, *lines, count], strides: [*plane, *line, stride] }))
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
