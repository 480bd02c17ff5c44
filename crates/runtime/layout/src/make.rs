//! How layouts are made: as MPI makes datatypes.

use crate::bounds::{Bound, Bounds};
use crate::error::LayoutError;
use crate::flatten::{Runs, normal_form, sequence};
use crate::layout::Layout;
use crate::node::Node;

/// Maps that have loops are taken apart into runs only if they have at most so many: the loops of larger ones
/// are kept as they are. It bounds the cost of making a layout.
const MOST_UNROLLED: usize = 1024;

/// Sizes, displacements and bounds are at most this large, so that sums and differences of a few do not
/// overflow.
const LARGEST: isize = 1 << 60;

fn within_limits(value: isize) -> Result<isize, LayoutError> {
    if (-LARGEST..=LARGEST).contains(&value) { Ok(value) } else { Err(LayoutError::Overflow) }
}

fn product(count: usize, distance: isize) -> Result<isize, LayoutError> {
    let count = isize::try_from(count).map_err(|_| LayoutError::Overflow)?;
    within_limits(count.checked_mul(distance).ok_or(LayoutError::Overflow)?)
}

/// A block of a datatype that is made of blocks.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Its displacement in bytes.
    pub displacement: isize,
    /// How many elements it has.
    pub count: usize,
    /// Their layout.
    pub layout: &'a Layout,
}

impl Layout {
    /// A datatype without bytes.
    pub fn empty() -> Layout {
        Layout { origin: 0, node: None, bounds: Bounds::of_bytes(0, 0), true_bounds: (0, 0) }
    }

    /// So many consecutive bytes: a predefined datatype.
    ///
    /// # Panics
    /// If there are more than 2⁶⁰.
    pub fn bytes(bytes: usize) -> Layout {
        assert!(bytes <= LARGEST as usize, "no memory has so many bytes");
        let end = bytes as isize;
        let node = (bytes > 0).then_some(Node::Run(bytes));
        Layout { origin: 0, node, bounds: Bounds::of_bytes(0, end), true_bounds: (0, end) }
    }

    /// `MPI_Type_contiguous`.
    ///
    /// # Errors
    /// As of all functions here: if displacements overflow, or if it becomes too complex.
    pub fn contiguous(&self, count: usize) -> Result<Layout, LayoutError> {
        self.copies(count, self.extent())
    }

    /// `MPI_Type_create_hvector`: `count` blocks of `block` elements; a block begins `stride` bytes after the
    /// one before.
    ///
    /// # Errors
    /// As for [`contiguous`](Layout::contiguous).
    pub fn strided(&self, count: usize, block: usize, stride: isize) -> Result<Layout, LayoutError> {
        self.contiguous(block)?.copies(count, stride)
    }

    /// `MPI_Type_vector`: as [`strided`](Layout::strided), with a stride in elements.
    ///
    /// # Errors
    /// As for [`contiguous`](Layout::contiguous).
    pub fn vector(&self, count: usize, block: usize, stride: isize) -> Result<Layout, LayoutError> {
        let bytes = stride.checked_mul(self.extent()).ok_or(LayoutError::Overflow)?;
        self.strided(count, block, bytes)
    }

    /// `MPI_Type_create_hindexed` and its relatives: blocks of so many elements at these displacements in
    /// bytes.
    ///
    /// # Errors
    /// As for [`contiguous`](Layout::contiguous).
    pub fn indexed(&self, blocks: impl IntoIterator<Item = (usize, isize)>) -> Result<Layout, LayoutError> {
        let blocks = blocks.into_iter().filter(|(count, _)| *count > 0);
        if matches!(self.node, Some(Node::Run(run)) if run as isize == self.extent()) {
            return self.indexed_runs(blocks);
        }
        let parts: Result<Vec<_>, LayoutError> =
            blocks.map(|(count, at)| Ok((at, self.contiguous(count)?))).collect();
        joined(&parts?)
    }

    /// Blocks that are runs each.
    fn indexed_runs(&self, blocks: impl Iterator<Item = (usize, isize)>) -> Result<Layout, LayoutError> {
        let (mut runs, mut bounds, mut low, mut high) = (Runs::default(), None, isize::MAX, isize::MIN);
        for (count, displacement) in blocks {
            let bytes = product(count, self.extent())?;
            let at = within_limits(displacement)?;
            let of_first = self.bounds.shifted(at)?;
            let of_block = of_first.joined(of_first.shifted(bytes - self.extent())?);
            bounds = Some(bounds.map_or(of_block, |b: Bounds| b.joined(of_block)));
            let start = at + self.origin;
            (low, high) = (low.min(start), high.max(start + bytes));
            if !runs.add(start, bytes as usize) {
                return Err(LayoutError::TooComplex);
            }
        }
        let (Some(bounds), Some(first)) = (bounds, runs.0.first()) else { return Ok(Layout::empty()) };
        let sum = runs.0.iter().try_fold(0_usize, |sum, run| sum.checked_add(run.bytes));
        product(sum.ok_or(LayoutError::Overflow)?, 1)?;
        finish(first.at, Some(normal_form(&runs.0)), bounds, (low, high))
    }

    /// `MPI_Type_create_struct`.
    ///
    /// # Errors
    /// As for [`contiguous`](Layout::contiguous).
    pub fn structured<'a>(blocks: impl IntoIterator<Item = Block<'a>>) -> Result<Layout, LayoutError> {
        let blocks = blocks.into_iter().filter(|block| block.count > 0);
        let parts: Result<Vec<_>, LayoutError> =
            blocks.map(|b| Ok((b.displacement, b.layout.contiguous(b.count)?))).collect();
        joined(&parts?)
    }

    /// `MPI_Type_create_resized`.
    ///
    /// # Errors
    /// As for [`contiguous`](Layout::contiguous).
    pub fn resized(&self, lower_bound: isize, extent: isize) -> Result<Layout, LayoutError> {
        let upper = within_limits(lower_bound)?.checked_add(extent).ok_or(LayoutError::Overflow)?;
        let bound = |at| Bound { at, is_explicit: true };
        let bounds = Bounds { lower: bound(lower_bound), upper: bound(within_limits(upper)?) };
        Ok(Layout { bounds, ..self.clone() })
    }

    /// The same elements, with these bounds instead of those that come from its bytes: alignment may add to
    /// them. Explicit bounds stay explicit.
    ///
    /// # Errors
    /// As for [`contiguous`](Layout::contiguous).
    pub fn aligned(&self, lower_bound: isize, extent: isize) -> Result<Layout, LayoutError> {
        let mut layout = self.resized(lower_bound, extent)?;
        layout.bounds.lower.is_explicit = self.bounds.lower.is_explicit;
        layout.bounds.upper.is_explicit = self.bounds.upper.is_explicit;
        Ok(layout)
    }

    /// Whether its bounds count: it has bytes or explicit bounds.
    fn counts(&self) -> bool {
        self.node.is_some() || self.bounds.lower.is_explicit || self.bounds.upper.is_explicit
    }

    /// Copies of it, each so many bytes after the one before.
    fn copies(&self, count: usize, stride: isize) -> Result<Layout, LayoutError> {
        match count {
            0 => return Ok(Layout::empty()),
            1 => return Ok(self.clone()),
            _ if !self.counts() => return Ok(self.clone()),
            _ => {}
        }
        let last = product(count - 1, stride)?;
        within_limits(stride)?;
        let bounds = self.bounds.joined(self.bounds.shifted(last)?);
        let (low, high) = self.true_bounds;
        let true_bounds = (low + last.min(0), high + last.max(0));
        let node = self.node.clone().map(|node| repeated(node, count, stride)).transpose()?;
        finish(self.origin, node, bounds, true_bounds)
    }
}

fn finish(
    origin: isize,
    node: Option<Node>,
    bounds: Bounds,
    true_bounds: (isize, isize),
) -> Result<Layout, LayoutError> {
    for bound in [bounds.lower.at, bounds.upper.at, true_bounds.0, true_bounds.1] {
        within_limits(bound)?;
    }
    let node = node.map(Node::check).transpose()?;
    let true_bounds = if node.is_some() { true_bounds } else { (0, 0) };
    Ok(Layout { origin: if node.is_some() { origin } else { 0 }, node, bounds, true_bounds })
}

/// The loop over a node in normal form, in normal form: neighbouring runs are merged, and loops that continue
/// each other are one.
///
/// If no run continues into the next repetition, a loop over a normal form is the normal form of the whole: a
/// shorter period would also be one of the body, which would then be a loop that continues (Fine and Wilf
/// 1965).
fn repeated(node: Node, count: usize, stride: isize) -> Result<Node, LayoutError> {
    let bytes = product(node.bytes(), isize::try_from(count).map_err(|_| LayoutError::Overflow)?)? as usize;
    match node {
        Node::Run(run) if stride == run as isize => return Ok(Node::Run(bytes)),
        Node::Loop { count: inner, stride: step, body, .. } if stride == inner as isize * step => {
            let count = inner.checked_mul(count).ok_or(LayoutError::Overflow)?;
            return Ok(Node::Loop { count, stride: step, bytes, body });
        }
        _ => {}
    }
    let continues = node.end() == stride && node.runs().saturating_mul(count) <= MOST_UNROLLED;
    let node = Node::Loop { count, stride, bytes, body: Box::new(node) };
    if !continues {
        return Ok(node);
    }
    let mut runs = Runs::default();
    node.for_each_run(0, &mut |at, bytes| runs.add(at, bytes));
    Ok(normal_form(&runs.0))
}

/// Layouts at their displacements, one after the other.
pub(crate) fn joined(parts: &[(isize, Layout)]) -> Result<Layout, LayoutError> {
    let (mut bounds, mut low, mut high, mut size) = (None, isize::MAX, isize::MIN, 0_usize);
    let mut nodes: Vec<(isize, &Node)> = Vec::with_capacity(parts.len());
    for (displacement, layout) in parts {
        let at = within_limits(*displacement)?;
        if layout.counts() {
            let shifted = layout.bounds.shifted(at)?;
            bounds = Some(bounds.map_or(shifted, |b: Bounds| b.joined(shifted)));
        }
        if let Some(node) = &layout.node {
            nodes.push((at + layout.origin, node));
            low = low.min(at + layout.true_bounds.0);
            high = high.max(at + layout.true_bounds.1);
            size = size.checked_add(node.bytes()).ok_or(LayoutError::Overflow)?;
        }
    }
    product(size, 1)?;
    let bounds = bounds.unwrap_or(Bounds::of_bytes(0, 0));
    let Some(&(origin, _)) = nodes.first() else { return finish(0, None, bounds, (0, 0)) };
    finish(origin, Some(in_order(&nodes)?), bounds, (low, high))
}

/// Nodes at their displacements, one after the other, relative to the first one.
fn in_order(nodes: &[(isize, &Node)]) -> Result<Node, LayoutError> {
    if let [(_, only)] = nodes {
        return Ok((*only).clone());
    }
    let all = nodes.iter().fold(0_usize, |sum, (_, node)| sum.saturating_add(node.runs()));
    let has_loops = nodes.iter().any(|(_, node)| matches!(node, Node::Loop { .. } | Node::Sequence { .. }));
    if all <= MOST_UNROLLED || !has_loops {
        let mut runs = Runs::default();
        let mut add = |at, bytes| runs.add(at, bytes);
        let fits = nodes.iter().all(|(at, node)| node.for_each_run(*at, &mut add));
        return if fits { Ok(normal_form(&runs.0)) } else { Err(LayoutError::TooComplex) };
    }
    if nodes.len() > crate::node::MOST_ENTRIES {
        return Err(LayoutError::TooComplex);
    }
    Ok(sequence(nodes.iter().map(|(at, node)| (*at, (*node).clone())).collect()))
}
