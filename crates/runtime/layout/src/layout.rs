use crate::bounds::Bounds;
use crate::error::LayoutError;
use crate::node::Node;
use crate::transfer::{Elements, move_bytes};

/// The map of one element of a datatype, and its extent.
///
/// Two layouts of the same map hold the same loops if the map has at most 1,024 runs, or is one loop nest, or
/// is made of runs alone; a larger one keeps the loops with which it was made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Displacement of the byte that is packed first.
    pub(crate) origin: isize,
    /// None: no bytes.
    pub(crate) node: Option<Node>,
    pub(crate) bounds: Bounds,
    /// Of the bytes alone.
    pub(crate) true_bounds: (isize, isize),
}

impl Layout {
    /// How many bytes an element packs.
    pub fn size(&self) -> usize {
        self.node.as_ref().map_or(0, Node::bytes)
    }

    /// The lower bound, as `MPI_Type_get_extent` gives it.
    pub fn lower_bound(&self) -> isize {
        self.bounds.lower.at
    }

    /// How far one element is from the next, in bytes.
    pub fn extent(&self) -> isize {
        self.bounds.upper.at - self.bounds.lower.at
    }

    /// Displacement of the lowest byte.
    pub fn true_lower_bound(&self) -> isize {
        self.true_bounds.0
    }

    /// How many bytes are between the lowest and the highest byte, these two included.
    pub fn true_extent(&self) -> isize {
        self.true_bounds.1 - self.true_bounds.0
    }

    /// Whether n elements are n * size bytes in ascending order, from the buffer's address on.
    pub fn is_contiguous(&self) -> bool {
        self.origin == 0 && self.node == Some(Node::Run(self.size())) && self.extent() == self.size() as isize
    }

    /// How many runs of consecutive bytes an element has; `usize::MAX` if that is too large a number.
    pub fn runs(&self) -> usize {
        self.node.as_ref().map_or(0, Node::runs)
    }

    /// Displacement and length of each run of consecutive bytes, in the order of packing; `None` if there are
    /// more than `most`.
    ///
    /// ```
    /// # use evenkeel_layout::Layout;
    /// let columns = Layout::bytes(8).vector(3, 1, 4)?;
    /// assert_eq!(columns.run_list(8), Some(vec![(0, 8), (32, 8), (64, 8)]));
    /// assert_eq!(columns.run_list(2), None);
    /// # Ok::<(), evenkeel_layout::LayoutError>(())
    /// ```
    pub fn run_list(&self, most: usize) -> Option<Vec<(isize, usize)>> {
        if self.runs() > most {
            return None;
        }
        let mut list = Vec::with_capacity(self.runs());
        if let Some(node) = &self.node {
            node.each_run(self.origin, &mut |at, bytes| list.push((at, bytes)));
        }
        Some(list)
    }

    /// How much memory the layout takes, in bytes: an upper bound.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Layout>() + self.node.as_ref().map_or(0, Node::memory_bytes)
    }

    /// Whether both have the same bytes in the same order, whatever their bounds are.
    pub fn has_same_map(&self, other: &Layout) -> bool {
        self.origin == other.origin && self.node == other.node
    }

    /// Packs a part of `count` elements: `bytes` bytes, the first of which is the one at `from` of all that
    /// the elements pack.
    ///
    /// The cost of beginning in the middle is logarithmic in the number of irregular pieces, and otherwise
    /// independent of `from`.
    ///
    /// # Safety
    /// `from + bytes` must be at most `count * self.size()`. All bytes of the elements that are packed must
    /// be valid for reading, where their displacements from `elements` say, and `packed` for writing `bytes`
    /// bytes; the two must not overlap. `elements` may be null if displacements are addresses (`MPI_BOTTOM`).
    #[inline]
    pub unsafe fn pack(&self, elements: *const u8, count: usize, from: usize, packed: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise. Packing only reads the elements.
        unsafe { self.transfer::<true>(elements.cast_mut(), count, from, packed, bytes) }
    }

    /// Unpacks a part of `count` elements: `bytes` bytes, the first of which is the one at `from` of all that
    /// the elements pack. Bytes that no packed byte is for are left as they are. If several packed bytes are
    /// for the same byte, any of them may win.
    ///
    /// # Safety
    /// As for [`pack`](Layout::pack), with reading and writing exchanged.
    #[inline]
    pub unsafe fn unpack(
        &self,
        packed: *const u8,
        bytes: usize,
        elements: *mut u8,
        count: usize,
        from: usize,
    ) {
        // SAFETY: the caller's promise. Unpacking only reads the packed bytes.
        unsafe { self.transfer::<false>(elements, count, from, packed.cast_mut(), bytes) }
    }

    #[inline]
    unsafe fn transfer<const PACK: bool>(
        &self,
        elements: *mut u8,
        count: usize,
        from: usize,
        packed: *mut u8,
        bytes: usize,
    ) {
        let Some(node) = &self.node else { return };
        if bytes > 0 {
            let first = elements.wrapping_offset(self.origin);
            let all = Elements { count, stride: self.extent(), body: node };
            // SAFETY: the caller's promise.
            unsafe { move_bytes::<PACK>(all, first, packed, from, bytes) };
        }
    }

    /// [`pack`](Layout::pack) from a slice; displacement 0 of the first element is the byte `origin` of it.
    ///
    /// # Errors
    /// If not all elements are within the slice, or if they pack fewer bytes.
    pub fn pack_slice(
        &self,
        memory: &[u8],
        origin: usize,
        count: usize,
        from: usize,
        packed: &mut [u8],
    ) -> Result<(), LayoutError> {
        self.check(memory.len(), origin, count, from, packed.len())?;
        // SAFETY: all elements are within the slice.
        unsafe { self.pack(memory.as_ptr().add(origin), count, from, packed.as_mut_ptr(), packed.len()) };
        Ok(())
    }

    /// [`unpack`](Layout::unpack) to a slice; displacement 0 of the first element is the byte `origin` of it.
    ///
    /// # Errors
    /// As for [`pack_slice`](Layout::pack_slice).
    pub fn unpack_slice(
        &self,
        packed: &[u8],
        memory: &mut [u8],
        origin: usize,
        count: usize,
        from: usize,
    ) -> Result<(), LayoutError> {
        self.check(memory.len(), origin, count, from, packed.len())?;
        // SAFETY: all elements are within the slice.
        unsafe { self.unpack(packed.as_ptr(), packed.len(), memory.as_mut_ptr().add(origin), count, from) };
        Ok(())
    }

    /// Whether all of `count` elements are within memory of so many bytes, and pack enough.
    fn check(
        &self,
        memory: usize,
        origin: usize,
        count: usize,
        from: usize,
        bytes: usize,
    ) -> Result<(), LayoutError> {
        let packs = count as u128 * self.size() as u128;
        if packs < from as u128 + bytes as u128 || origin > memory {
            return Err(LayoutError::OutOfBounds);
        }
        let last = (count as i128 - 1).max(0) * self.extent() as i128;
        let lowest = origin as i128 + self.true_bounds.0 as i128 + last.min(0);
        let highest = origin as i128 + self.true_bounds.1 as i128 + last.max(0);
        let is_within = packs == 0 || (lowest >= 0 && highest <= memory as i128);
        if is_within { Ok(()) } else { Err(LayoutError::OutOfBounds) }
    }
}
