//! Maps of datatypes: where the bytes of their elements lie.

use evenkeel_layout::{ArrayOrder, Block, Distribution, Layout, LayoutError};
use std::ffi::c_void;
use std::sync::Arc;

/// How a datatype is made, and the numbers that it is made with. Displacements of the indexed constructors
/// and of vectors are in extents, all others in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the shim passes their numbers")]
pub enum TypeConstructor {
    /// The number of bytes.
    Bytes,
    /// The count.
    Contiguous,
    /// Count, block length, stride.
    Vector,
    /// The same, with a stride in bytes.
    Hvector,
    /// Count, block lengths, displacements.
    Indexed,
    /// The same, with displacements in bytes.
    Hindexed,
    /// Count, block length, displacements.
    IndexedBlock,
    /// The same, with displacements in bytes.
    HindexedBlock,
    /// Count, block lengths, displacements in bytes; one type for each block.
    Struct,
    /// Number of dimensions; sizes, sizes of the part, starts; 0 for the order of C or 1 for that of Fortran.
    Subarray,
    /// Processes, rank, number of dimensions; sizes; distributions (0 none, 1 block, 2 cyclic); their
    /// arguments (-1: the default); processes in each dimension; the order.
    Darray,
    /// Lower bound, extent.
    Resized,
    /// Lower bound, extent: as the library has them, which may add to those of the bytes to align them.
    Aligned,
}

/// Takes numbers one after the other. All have been taken in the end, or the constructor is invalid.
struct Numbers<'a>(&'a [i64]);

impl Numbers<'_> {
    fn signed(&mut self) -> Result<isize, LayoutError> {
        let (first, rest) = self.0.split_first().ok_or(LayoutError::Invalid)?;
        self.0 = rest;
        isize::try_from(*first).map_err(|_| LayoutError::Overflow)
    }

    fn count(&mut self) -> Result<usize, LayoutError> {
        usize::try_from(self.signed()?).map_err(|_| LayoutError::Invalid)
    }

    fn list<T>(
        &mut self,
        length: usize,
        one: impl Fn(&mut Self) -> Result<T, LayoutError>,
    ) -> Result<Vec<T>, LayoutError> {
        if length > self.0.len() {
            return Err(LayoutError::Invalid);
        }
        (0..length).map(|_| one(self)).collect()
    }

    fn counts(&mut self, length: usize) -> Result<Vec<usize>, LayoutError> {
        self.list(length, Self::count)
    }

    fn order(&mut self) -> Result<ArrayOrder, LayoutError> {
        match self.signed()? {
            0 => Ok(ArrayOrder::C),
            1 => Ok(ArrayOrder::Fortran),
            _ => Err(LayoutError::Invalid),
        }
    }
}

fn make(
    constructor: TypeConstructor,
    numbers: &mut Numbers,
    inner: &[&Layout],
) -> Result<Layout, LayoutError> {
    use TypeConstructor as C;
    if constructor == C::Bytes {
        let bytes = numbers.count()?;
        // More than memory can have.
        return if bytes < 1 << 60 { Ok(Layout::bytes(bytes)) } else { Err(LayoutError::Overflow) };
    }
    if constructor == C::Struct {
        return structured(numbers, inner);
    }
    let &[element] = inner else { return Err(LayoutError::Invalid) };
    match constructor {
        C::Bytes | C::Struct => unreachable!("made above"),
        C::Contiguous => element.contiguous(numbers.count()?),
        C::Vector => element.vector(numbers.count()?, numbers.count()?, numbers.signed()?),
        C::Hvector => element.strided(numbers.count()?, numbers.count()?, numbers.signed()?),
        C::Indexed => indexed(element, element.extent(), false, numbers),
        C::Hindexed => indexed(element, 1, false, numbers),
        C::IndexedBlock => indexed(element, element.extent(), true, numbers),
        C::HindexedBlock => indexed(element, 1, true, numbers),
        C::Subarray => {
            let dimensions = numbers.count()?;
            let [sizes, parts, starts] =
                [numbers.counts(dimensions)?, numbers.counts(dimensions)?, numbers.counts(dimensions)?];
            element.subarray(&sizes, &parts, &starts, numbers.order()?)
        }
        C::Darray => distributed(element, numbers),
        C::Resized => element.resized(numbers.signed()?, numbers.signed()?),
        C::Aligned => element.aligned(numbers.signed()?, numbers.signed()?),
    }
}

fn structured(numbers: &mut Numbers, inner: &[&Layout]) -> Result<Layout, LayoutError> {
    let count = numbers.count()?;
    let lengths = numbers.counts(count)?;
    let displacements = numbers.list(count, Numbers::signed)?;
    if inner.len() != count {
        return Err(LayoutError::Invalid);
    }
    let places = lengths.into_iter().zip(displacements).zip(inner);
    Layout::structured(places.map(|((count, displacement), layout)| Block { displacement, count, layout }))
}

/// Blocks at displacements in units of so many bytes.
fn indexed(
    element: &Layout,
    unit: isize,
    is_one_length: bool,
    numbers: &mut Numbers,
) -> Result<Layout, LayoutError> {
    let count = numbers.count()?;
    let lengths = if is_one_length {
        let length = numbers.count()?;
        // Before memory is allocated for that many.
        let are_there = count <= numbers.0.len();
        if are_there { vec![length; count] } else { return Err(LayoutError::Invalid) }
    } else {
        numbers.counts(count)?
    };
    let scaled = |n: &mut Numbers| n.signed()?.checked_mul(unit).ok_or(LayoutError::Overflow);
    let displacements = numbers.list(count, scaled)?;
    element.indexed(lengths.into_iter().zip(displacements))
}

fn distributed(element: &Layout, numbers: &mut Numbers) -> Result<Layout, LayoutError> {
    let (processes, rank, dimensions) = (numbers.count()?, numbers.count()?, numbers.count()?);
    let sizes = numbers.counts(dimensions)?;
    let kinds = numbers.counts(dimensions)?;
    let arguments = numbers.list(dimensions, Numbers::signed)?;
    let grid = numbers.counts(dimensions)?;
    let order = numbers.order()?;
    let distribution = |(kind, argument): (usize, isize)| match (kind, usize::try_from(argument).ok()) {
        (0, _) => Ok(Distribution::None),
        (1, argument) => Ok(Distribution::Block(argument)),
        (2, argument) => Ok(Distribution::Cyclic(argument)),
        _ => Err(LayoutError::Invalid),
    };
    let distributions: Result<Vec<_>, _> = kinds.into_iter().zip(arguments).map(distribution).collect();
    let product = grid.iter().try_fold(1_usize, |product, of| product.checked_mul(*of));
    if product != Some(processes) {
        return Err(LayoutError::Invalid);
    }
    element.distributed(rank, &sizes, &distributions?, &grid, order)
}

/// Makes a map. Returns NULL if it is too complex, or if the numbers contradict each other. To be released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_type_map_make(
    constructor: TypeConstructor,
    numbers: *const i64,
    numbers_count: usize,
    inner: *const *const Layout,
    inner_count: usize,
) -> *const Layout {
    // SAFETY: arrays of so many numbers and maps, by the interface.
    let (numbers, inner) = unsafe {
        let inner = (0..inner_count).map(|i| &**inner.add(i)).collect::<Vec<_>>();
        (std::slice::from_raw_parts(numbers, numbers_count), inner)
    };
    let mut numbers = Numbers(numbers);
    match make(constructor, &mut numbers, &inner) {
        Ok(layout) if numbers.0.is_empty() => Arc::into_raw(Arc::new(layout)),
        _ => std::ptr::null(),
    }
}

/// Keeps a map until it is released once more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_type_map_hold(map: *const Layout) {
    // SAFETY: not released by all who hold it, by the interface.
    unsafe { Arc::increment_strong_count(map) };
}

/// Releases a map. The caller may not use it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_type_map_release(map: *const Layout) {
    // SAFETY: held by the caller, by the interface.
    unsafe { Arc::decrement_strong_count(map) };
}

/// Whether the elements are what the library says of them: so many bytes each, in these bounds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_type_map_fits(
    map: *const Layout,
    bytes: i64,
    lower_bound: i64,
    extent: i64,
    true_lower_bound: i64,
    true_extent: i64,
) -> bool {
    // SAFETY: held by the caller, by the interface.
    let map = unsafe { &*map };
    let mine = (map.size() as i64, map.lower_bound() as i64, map.extent() as i64);
    let my_true = (map.true_lower_bound() as i64, map.true_extent() as i64);
    mine == (bytes, lower_bound, extent) && (bytes == 0 || my_true == (true_lower_bound, true_extent))
}

/// Whether n elements are n times their bytes in ascending order, from the buffer's address on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_type_map_is_contiguous(map: *const Layout) -> bool {
    // SAFETY: held by the caller, by the interface.
    unsafe { (*map).is_contiguous() }
}

/// Packs `bytes` bytes of `count` elements, from byte `from` of all that they pack on. `elements` may be NULL
/// if displacements are addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_type_map_pack(
    map: *const Layout,
    elements: *const c_void,
    count: usize,
    from: usize,
    packed: *mut c_void,
    bytes: usize,
) {
    // SAFETY: elements of the program that are valid, and a place for the bytes, by the interface.
    unsafe { (*map).pack(elements.cast(), count, from, packed.cast(), bytes) }
}

/// Unpacks `bytes` bytes to `count` elements, from byte `from` of all that they pack on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_type_map_unpack(
    map: *const Layout,
    packed: *const c_void,
    bytes: usize,
    elements: *mut c_void,
    count: usize,
    from: usize,
) {
    // SAFETY: as for packing, with reading and writing exchanged.
    unsafe { (*map).unpack(packed.cast(), bytes, elements.cast(), count, from) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(constructor: TypeConstructor, numbers: &[i64], inner: &[&Layout]) -> Result<Layout, LayoutError> {
        let mut numbers = Numbers(numbers);
        let layout = make(constructor, &mut numbers, inner)?;
        if numbers.0.is_empty() { Ok(layout) } else { Err(LayoutError::Invalid) }
    }

    #[test]
    fn every_constructor_takes_its_numbers() {
        use TypeConstructor as C;
        let int = Layout::bytes(4);
        let element = int.resized(0, 8).expect("small");
        let one = &[&element][..];
        let by_bytes = |places: &[isize]| int.indexed(places.iter().map(|at| (1, *at))).expect("small");
        let cases: [(C, &[i64], &[isize]); 10] = [
            (C::Contiguous, &[2], &[0, 8]),
            (C::Vector, &[2, 1, 3], &[0, 24]),
            (C::Hvector, &[2, 2, 20], &[0, 8, 20, 28]),
            (C::Indexed, &[2, 1, 2, 5, 0], &[40, 0, 8]),
            (C::Hindexed, &[2, 1, 2, 60, 0], &[60, 0, 8]),
            (C::IndexedBlock, &[2, 2, 3, 0], &[24, 32, 0, 8]),
            (C::HindexedBlock, &[2, 1, 3, -9], &[3, -9]),
            (C::Subarray, &[2, 4, 3, 2, 1, 1, 2, 0], &[40, 64]),
            (C::Subarray, &[2, 4, 3, 2, 1, 1, 2, 1], &[72, 80]),
            (C::Darray, &[2, 1, 1, 5, 2, -1, 2, 0], &[8, 24]),
        ];
        for (constructor, numbers, places) in cases {
            let layout = made(constructor, numbers, one).expect("valid");
            assert!(layout.has_same_map(&by_bytes(places)), "{constructor:?} {numbers:?}");
            let one_more = [numbers, &[0]].concat();
            assert!(made(constructor, &one_more, one).is_err(), "{constructor:?} {one_more:?}");
            assert!(made(constructor, &numbers[..numbers.len() - 1], one).is_err());
            assert!(made(constructor, numbers, &[]).is_err());
        }
        let pair = made(C::Struct, &[2, 1, 2, 8, 100], &[&element, &int]).expect("valid");
        assert!(pair.has_same_map(&by_bytes(&[8, 100, 104])));
        assert!(made(C::Struct, &[2, 1, 2, 8, 100], one).is_err());
        assert_eq!(made(C::Bytes, &[4], &[]), Ok(int.clone()));
        let resized = made(C::Resized, &[-4, 12], one).expect("valid");
        assert_eq!((resized.lower_bound(), resized.extent()), (-4, 12));
    }

    #[test]
    fn numbers_that_no_type_has_are_refused() {
        use TypeConstructor as C;
        let int = Layout::bytes(4);
        for (constructor, numbers) in [
            (C::Contiguous, &[-1][..]),
            (C::Bytes, &[-1]),
            (C::Bytes, &[i64::MAX]),
            (C::IndexedBlock, &[i64::MAX, 1]),
            (C::Indexed, &[i64::MAX]),
            (C::Subarray, &[1, 4, 3, 2, 0]),
            (C::Subarray, &[1, 4, 3, 1, 2]),
            (C::Darray, &[3, 1, 1, 5, 2, -1, 2, 0]),
            (C::Darray, &[2, 2, 1, 5, 2, -1, 2, 0]),
            (C::Darray, &[2, 1, 1, 5, 1, 2, 2, 0]),
        ] {
            assert!(made(constructor, numbers, &[&int]).is_err(), "{constructor:?} {numbers:?}");
        }
    }
}
