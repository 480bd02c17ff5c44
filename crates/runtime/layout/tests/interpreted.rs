//! Random nested datatypes against an interpreter of the type map, cut and resumed at every byte.

mod interpreter;

use evenkeel_layout::{Layout, LayoutError};
use evenkeel_random::Random;
use interpreter::{Map, Type, random_type};
use std::collections::HashMap;

/// Unoptimised, the interpreter is slow.
const TYPES: u64 = if cfg!(debug_assertions) { 10_000 } else { 100_000 };
const MOST_BYTES: usize = 6_000;

/// A type with memory for some of its elements.
struct Case {
    map: Map,
    layout: Layout,
    count: usize,
    /// Where in memory displacement 0 of the first element is.
    origin: usize,
    memory: Vec<u8>,
    /// The index in memory of each packed byte.
    places: Vec<usize>,
}

fn case(made: &Type, random: &mut Random) -> Option<Case> {
    let map = made.map();
    let layout = made.layout().unwrap_or_else(|error| panic!("{error}: {made:?}"));
    let count = [1, 1, 2, 5][random.below(4)];
    let (bytes, extent) = (map.bytes(), map.extent());
    if count * bytes.len() > MOST_BYTES {
        return None;
    }
    let displacements: Vec<isize> =
        (0..count as isize).flat_map(|i| bytes.iter().map(move |at| at + i * extent)).collect();
    let lowest = displacements.iter().copied().min().unwrap_or(0).min(0);
    let highest = displacements.iter().copied().max().unwrap_or(0).max(0);
    let origin = -lowest as usize;
    let memory = (0..=(highest - lowest) as usize).map(|_| random.bits() as u8).collect();
    let places = displacements.iter().map(|at| (at - lowest) as usize).collect();
    Some(Case { map, layout, count, origin, memory, places })
}

impl Case {
    fn expected(&self) -> Vec<u8> {
        self.places.iter().map(|place| self.memory[*place]).collect()
    }

    /// Packs with cuts before these bytes.
    fn pack(&self, cuts: &[usize]) -> Vec<u8> {
        let mut packed = vec![0; self.places.len()];
        let mut from = 0;
        for &to in cuts.iter().chain([&self.places.len()]) {
            self.layout
                .pack_slice(&self.memory, self.origin, self.count, from, &mut packed[from..to])
                .expect("all elements are in memory");
            from = to;
        }
        packed
    }

    /// Memory after these bytes have been unpacked, if no two of them have the same place.
    fn unpacked(&self, values: &[u8]) -> Option<Vec<u8>> {
        let mut memory = self.memory.clone();
        let mut is_taken = vec![false; memory.len()];
        for (place, value) in self.places.iter().zip(values) {
            if std::mem::replace(&mut is_taken[*place], true) {
                return None;
            }
            memory[*place] = *value;
        }
        Some(memory)
    }

    /// Unpacks with cuts before these bytes.
    fn unpack(&self, cuts: &[usize], values: &[u8]) -> Vec<u8> {
        let mut memory = self.memory.clone();
        let mut from = 0;
        for &to in cuts.iter().chain([&self.places.len()]) {
            self.layout
                .unpack_slice(&values[from..to], &mut memory, self.origin, self.count, from)
                .expect("all elements are in memory");
            from = to;
        }
        memory
    }

    /// Where several packed bytes have the same place, any of them may be there; elsewhere nothing has
    /// changed.
    fn check_overlapping(&self, memory: &[u8], values: &[u8]) {
        let mut candidates: HashMap<usize, Vec<u8>> = HashMap::new();
        for (place, value) in self.places.iter().zip(values) {
            candidates.entry(*place).or_default().push(*value);
        }
        for (place, byte) in memory.iter().enumerate() {
            let is_right = candidates.get(&place).map_or(*byte == self.memory[place], |c| c.contains(byte));
            assert!(is_right, "byte {place} after unpacking");
        }
    }
}

fn check(made: &Type, random: &mut Random) {
    let Some(case) = case(made, random) else { return };
    let (map, layout) = (&case.map, &case.layout);
    let bytes = map.bytes();
    assert_eq!(layout.size(), bytes.len(), "{made:?}");
    assert_eq!((layout.lower_bound(), layout.extent()), (map.lower(), map.extent()), "{made:?}");
    let lowest = bytes.iter().copied().min().unwrap_or(0);
    let end = bytes.iter().map(|at| at + 1).max().unwrap_or(0);
    assert_eq!((layout.true_lower_bound(), layout.true_extent()), (lowest, end - lowest), "{made:?}");
    let is_contiguous = !bytes.is_empty()
        && bytes.iter().enumerate().all(|(i, at)| *at == i as isize)
        && map.extent() == bytes.len() as isize;
    assert_eq!(layout.is_contiguous(), is_contiguous, "{made:?}");

    let expected = case.expected();
    let values: Vec<u8> = (0..expected.len()).map(|_| random.bits() as u8).collect();
    let unpacked = case.unpacked(&values);
    let with_cuts = |cuts: &[usize]| {
        assert!(case.pack(cuts) == expected, "cuts before {cuts:?}: {made:?}");
        let memory = case.unpack(cuts, &values);
        match &unpacked {
            Some(unpacked) => assert!(memory == *unpacked, "cuts before {cuts:?}: {made:?}"),
            None => case.check_overlapping(&memory, &values),
        }
    };
    with_cuts(&[]);
    if expected.len() < 200 {
        (0..=expected.len()).for_each(|cut| with_cuts(&[cut]));
        with_cuts(&(0..expected.len()).collect::<Vec<_>>());
    }
    for _ in 0..4 {
        let mut cuts: Vec<usize> = (0..3).map(|_| random.below(expected.len() + 1)).collect();
        cuts.sort_unstable();
        with_cuts(&cuts);
    }
}

#[test]
fn random_types_are_packed_as_the_type_map_says() {
    for number in 0..TYPES {
        let mut random = Random::stream(17, number);
        let (bytes, depth) = ([60, 400, 2_000][random.below(3)], 1 + random.below(5));
        let made = random_type(&mut random, bytes, depth);
        check(&made, &mut random);
    }
}

#[test]
fn equal_maps_are_the_same_layout_however_they_are_made() {
    let (mut compared, mut loops) = (0, 0);
    for number in 0..TYPES {
        let mut random = Random::stream(18, number);
        let depth = 1 + random.below(5);
        let made = random_type(&mut random, 600, depth);
        let map = made.map();
        let layout = made.layout().expect("small types have layouts");
        if layout.runs() > 1_000 {
            continue;
        }
        let byte = Layout::bytes(1);
        let by_bytes = byte.indexed(map.bytes().into_iter().map(|at| (1, at))).expect("as small");
        assert!(layout.has_same_map(&by_bytes), "{made:?}\n{layout:?}\n{by_bytes:?}");
        let resized = |layout: Layout| layout.resized(map.lower(), map.extent()).expect("as small");
        assert_eq!(resized(layout.clone()), resized(by_bytes));
        compared += 1;
        loops += usize::from(layout.runs() > 8);
    }
    assert!(compared > TYPES / 2 && loops as u64 > TYPES / 20, "{compared} {loops}");
}

#[test]
fn the_same_bytes_in_another_order_are_another_layout() {
    let int = Layout::bytes(4);
    let ascending = int.indexed([(1, 0), (1, 8), (1, 20)]).expect("small");
    let swapped = int.indexed([(1, 8), (1, 0), (1, 20)]).expect("small");
    assert!(!ascending.has_same_map(&swapped));
    let memory: Vec<u8> = (0..24).collect();
    let mut packed = [[0; 12]; 2];
    ascending.pack_slice(&memory, 0, 1, 0, &mut packed[0]).expect("within");
    swapped.pack_slice(&memory, 0, 1, 0, &mut packed[1]).expect("within");
    assert_eq!(packed[0], [0, 1, 2, 3, 8, 9, 10, 11, 20, 21, 22, 23]);
    assert_eq!(packed[1], [8, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23]);
}

/// Every length of run that has a kernel of its own, and some that have none, at every number of strides.
#[test]
fn every_kernel_packs_and_unpacks() {
    let mut random = Random::new(19);
    for run in (1..=70).chain([96, 128, 192, 200, 256, 511, 600]) {
        let bytes = Box::new(Type::Bytes(run));
        let step = run as isize + 5;
        let line = Type::Strided(7, 1, step, bytes.clone());
        let plane = Type::Strided(3, 1, 7 * step + 3, Box::new(line.clone()));
        let body = Type::Strided(2, 1, 30 * step, Box::new(plane.clone()));
        let backwards = Type::Strided(7, 1, -step, bytes.clone());
        let at = |i: isize| i * step + i * i % 5;
        let listed = Type::Indexed((0..9).map(|i| (1, at(i))).collect(), bytes.clone());
        let unequal = Type::Indexed((0..5).map(|i| (1 + i as usize % 2, at(2 * i))).collect(), bytes);
        let of_lists = Type::Strided(6, 1, 10 * step, Box::new(listed.clone()));
        let of_pieces = Type::Strided(6, 1, 12 * step, Box::new(unequal.clone()));
        for made in [line, plane, body, backwards, listed, unequal, of_lists, of_pieces] {
            check(&made, &mut random);
        }
    }
}

#[test]
fn large_counts_keep_their_loops() {
    let element = Layout::bytes(8);
    let column = element.strided(1 << 40, 1, 1 << 12).expect("one loop");
    assert_eq!((column.size(), column.runs()), (1 << 43, 1 << 40));
    let halo = Layout::structured([0, 1 << 56].map(|displacement| evenkeel_layout::Block {
        displacement,
        count: 1,
        layout: &column,
    }))
    .expect("two loops");
    assert_eq!(halo.size(), 1 << 44);
    assert!(halo.memory_bytes() < 1_000);
}

#[test]
fn what_would_need_too_much_memory_is_refused() {
    let byte = Layout::bytes(1);
    let irregular = |n: isize| byte.indexed((0..n).map(|i| (1, i * i)));
    assert!(irregular(60_000).is_ok_and(|layout| layout.memory_bytes() < 1 << 21));
    assert_eq!(irregular(70_000), Err(LayoutError::TooComplex));
    let deep = (1..100).try_fold(byte.clone(), |layout, i| layout.strided(2, 1, 3_isize.pow(i.min(36))));
    assert!(deep.is_err());
    assert_eq!(byte.contiguous(usize::MAX), Err(LayoutError::Overflow));
    assert_eq!(byte.strided(1 << 40, 1, 1 << 40), Err(LayoutError::Overflow));
    assert_eq!(Layout::bytes(1 << 40).contiguous(1 << 40), Err(LayoutError::Overflow));
}

#[test]
fn elements_beyond_the_memory_are_refused() {
    let pair = Layout::bytes(2).strided(2, 1, 4).expect("small");
    let mut packed = [0; 8];
    assert_eq!(pair.pack_slice(&[0; 12], 0, 2, 0, &mut packed), Ok(()));
    assert_eq!(pair.pack_slice(&[0; 11], 0, 2, 0, &mut packed), Err(LayoutError::OutOfBounds));
    assert_eq!(pair.pack_slice(&[0; 12], 1, 2, 0, &mut packed), Err(LayoutError::OutOfBounds));
    assert_eq!(pair.pack_slice(&[0; 12], 0, 2, 1, &mut packed), Err(LayoutError::OutOfBounds));
    assert_eq!(pair.unpack_slice(&packed, &mut [0; 11], 0, 2, 0), Err(LayoutError::OutOfBounds));
}
