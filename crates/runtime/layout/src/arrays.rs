//! Parts of arrays.

use crate::error::LayoutError;
use crate::layout::Layout;
use crate::make::joined;

/// Which index of an array changes fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayOrder {
    /// The last one.
    C,
    /// The first one.
    Fortran,
}

impl ArrayOrder {
    /// The dimensions, from the one that changes fastest on.
    fn fastest_first(self, dimensions: usize) -> impl Iterator<Item = usize> {
        (0..dimensions).map(move |i| if self == ArrayOrder::C { dimensions - 1 - i } else { i })
    }
}

/// How one dimension of an array is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// `MPI_DISTRIBUTE_NONE`.
    None,
    /// `MPI_DISTRIBUTE_BLOCK` with so many indices a process, or with the default number.
    Block(Option<usize>),
    /// `MPI_DISTRIBUTE_CYCLIC` with blocks of so many indices, or of one.
    Cyclic(Option<usize>),
}

impl Layout {
    /// `MPI_Type_create_subarray`. The lists have one entry for each dimension.
    ///
    /// # Errors
    /// If the part is not within the array, and as for [`contiguous`](Layout::contiguous).
    pub fn subarray(
        &self,
        sizes: &[usize],
        part_sizes: &[usize],
        starts: &[usize],
        order: ArrayOrder,
    ) -> Result<Layout, LayoutError> {
        if part_sizes.len() != sizes.len() || starts.len() != sizes.len() {
            return Err(LayoutError::Invalid);
        }
        let (mut part, mut step) = (self.clone(), self.extent());
        for dimension in order.fastest_first(sizes.len()) {
            let (size, length, start) = (sizes[dimension], part_sizes[dimension], starts[dimension]);
            if start.checked_add(length).is_none_or(|end| end > size) {
                return Err(LayoutError::Invalid);
            }
            part = part.strided(length, 1, step)?.displaced(start, step)?;
            step = times(size, step)?;
        }
        part.resized(0, step)
    }

    /// `MPI_Type_create_darray`: the part of the process `rank` of a grid of processes. The lists have one
    /// entry for each dimension.
    ///
    /// # Errors
    /// If the arguments contradict each other, and as for [`contiguous`](Layout::contiguous).
    pub fn distributed(
        &self,
        rank: usize,
        sizes: &[usize],
        distributions: &[Distribution],
        processes: &[usize],
        order: ArrayOrder,
    ) -> Result<Layout, LayoutError> {
        let coordinates = coordinates(rank, processes).ok_or(LayoutError::Invalid)?;
        if distributions.len() != sizes.len() || processes.len() != sizes.len() {
            return Err(LayoutError::Invalid);
        }
        let (mut part, mut step) = (self.clone(), self.extent());
        for dimension in order.fastest_first(sizes.len()) {
            let size = sizes[dimension];
            let (process, of) = (coordinates[dimension], processes[dimension]);
            part = match distributions[dimension] {
                Distribution::None if of != 1 => return Err(LayoutError::Invalid),
                Distribution::None => part.strided(size, 1, step)?,
                Distribution::Block(block) => {
                    let block = block.unwrap_or(size.div_ceil(of));
                    if block == 0 || block.saturating_mul(of) < size {
                        return Err(LayoutError::Invalid);
                    }
                    let start = (block * process).min(size);
                    part.strided(block.min(size - start), 1, step)?.displaced(start, step)?
                }
                Distribution::Cyclic(block) => part.cyclic(size, block.unwrap_or(1), process, of, step)?,
            };
            step = times(size, step)?;
        }
        part.resized(0, step)
    }

    /// Every `of`-th block, from that of the process on; the last one may be incomplete.
    fn cyclic(
        &self,
        size: usize,
        block: usize,
        process: usize,
        of: usize,
        step: isize,
    ) -> Result<Layout, LayoutError> {
        let round = block.checked_mul(of).ok_or(LayoutError::Overflow)?;
        if block == 0 {
            return Err(LayoutError::Invalid);
        }
        let start = (block * process).min(size);
        let whole = (size - start) / round + usize::from((size - start) % round >= block);
        let rest_start = start + whole * round;
        let rest = size.saturating_sub(rest_start).min(block);
        let blocks = self.strided(block, 1, step)?.strided(whole, 1, times(round, step)?)?;
        let rest = self.strided(rest, 1, step)?;
        joined(&[(times(start, step)?, blocks), (times(rest_start, step)?, rest)])
    }

    fn displaced(&self, times_step: usize, step: isize) -> Result<Layout, LayoutError> {
        self.indexed([(1, times(times_step, step)?)])
    }
}

fn times(count: usize, step: isize) -> Result<isize, LayoutError> {
    isize::try_from(count).ok().and_then(|count| count.checked_mul(step)).ok_or(LayoutError::Overflow)
}

/// The coordinates of a rank in a grid of processes: the last one changes fastest, whatever the order of the
/// array is.
fn coordinates(rank: usize, processes: &[usize]) -> Option<Vec<usize>> {
    let mut rest = rank;
    let mut coordinates = vec![0; processes.len()];
    for (coordinate, &of) in coordinates.iter_mut().zip(processes).rev() {
        (*coordinate, rest) = (rest.checked_rem(of)?, rest / of);
    }
    (rest == 0).then_some(coordinates)
}
