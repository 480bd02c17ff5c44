//! Datatypes as the standard defines them: a list of bytes and markers. Slow, and obviously right.

use evenkeel_layout::{ArrayOrder, Block, Distribution, Layout, LayoutError};
use evenkeel_random::Random;

/// How a datatype is made.
#[derive(Clone, Debug)]
pub enum Type {
    Bytes(usize),
    Contiguous(usize, Box<Type>),
    Strided(usize, usize, isize, Box<Type>),
    Vector(usize, usize, isize, Box<Type>),
    Indexed(Vec<(usize, isize)>, Box<Type>),
    Struct(Vec<(isize, usize, Type)>),
    Resized(isize, isize, Box<Type>),
    Subarray(Vec<[usize; 3]>, ArrayOrder, Box<Type>),
    Distributed(usize, Vec<(usize, Distribution, usize)>, ArrayOrder, Box<Type>),
}

/// An entry of a type map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Byte(isize),
    Lower(isize),
    Upper(isize),
}

impl Entry {
    fn shifted(self, by: isize) -> Entry {
        match self {
            Entry::Byte(at) => Entry::Byte(at + by),
            Entry::Lower(at) => Entry::Lower(at + by),
            Entry::Upper(at) => Entry::Upper(at + by),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Map(pub Vec<Entry>);

impl Map {
    pub fn bytes(&self) -> Vec<isize> {
        self.0.iter().filter_map(|e| if let Entry::Byte(at) = e { Some(*at) } else { None }).collect()
    }

    pub fn lower(&self) -> isize {
        let marked = self.0.iter().filter_map(|e| if let Entry::Lower(at) = e { Some(*at) } else { None });
        marked.min().or(self.bytes().into_iter().min()).unwrap_or(0)
    }

    pub fn upper(&self) -> isize {
        let marked = self.0.iter().filter_map(|e| if let Entry::Upper(at) = e { Some(*at) } else { None });
        marked.max().or(self.bytes().into_iter().map(|at| at + 1).max()).unwrap_or(0)
    }

    pub fn extent(&self) -> isize {
        self.upper() - self.lower()
    }

    fn copy(&mut self, other: &Map, at: isize) {
        self.0.extend(other.0.iter().map(|entry| entry.shifted(at)));
    }

    /// Elements of another type, each an extent after the one before.
    fn copies(&mut self, other: &Map, count: usize, at: isize) {
        let extent = other.extent();
        (0..count as isize).for_each(|i| self.copy(other, at + i * extent));
    }

    fn resized(mut self, lower: isize, extent: isize) -> Map {
        self.0.retain(|entry| matches!(entry, Entry::Byte(_)));
        self.0.extend([Entry::Lower(lower), Entry::Upper(lower + extent)]);
        self
    }
}

/// Appends the map at the places of an index space whose dimensions have these (index, distance) lists, the
/// first one outermost.
fn nested(map: &mut Map, inner: &Map, dimensions: &[Vec<isize>], at: isize) {
    match dimensions {
        [] => map.copy(inner, at),
        [first, rest @ ..] => first.iter().for_each(|place| nested(map, inner, rest, at + place)),
    }
}

/// What an array's part has: for each dimension the indices and the size, as a map.
fn array(inner: &Map, dimensions: &[(Vec<usize>, usize)], order: ArrayOrder) -> Map {
    let mut slowest_first: Vec<_> = dimensions.to_vec();
    if order == ArrayOrder::Fortran {
        slowest_first.reverse();
    }
    let (mut step, mut places) = (inner.extent(), Vec::new());
    for (indices, size) in slowest_first.iter().rev() {
        places.insert(0, indices.iter().map(|i| *i as isize * step).collect());
        step *= *size as isize;
    }
    let mut map = Map::default();
    nested(&mut map, inner, &places, 0);
    map.resized(0, step)
}

fn owned(size: usize, distribution: Distribution, process: usize, of: usize) -> Vec<usize> {
    let owner = |index: usize| match distribution {
        Distribution::None => 0,
        Distribution::Block(block) => index / block.unwrap_or(size.div_ceil(of)),
        Distribution::Cyclic(block) => index / block.unwrap_or(1) % of,
    };
    (0..size).filter(|index| owner(*index) == process).collect()
}

impl Type {
    pub fn map(&self) -> Map {
        let mut map = Map::default();
        match self {
            Type::Bytes(bytes) => map.0.extend((0..*bytes as isize).map(Entry::Byte)),
            Type::Contiguous(count, inner) => {
                let inner = inner.map();
                map.copies(&inner, *count, 0);
            }
            Type::Strided(count, block, stride, inner) => {
                let inner = inner.map();
                (0..*count as isize).for_each(|i| map.copies(&inner, *block, i * stride));
            }
            Type::Vector(count, block, stride, inner) => {
                let bytes = stride * inner.map().extent();
                return Type::Strided(*count, *block, bytes, inner.clone()).map();
            }
            Type::Indexed(blocks, inner) => {
                let inner = inner.map();
                blocks.iter().for_each(|(count, at)| map.copies(&inner, *count, *at));
            }
            Type::Struct(blocks) => {
                blocks.iter().for_each(|(at, count, inner)| map.copies(&inner.map(), *count, *at));
            }
            Type::Resized(lower, extent, inner) => return inner.map().resized(*lower, *extent),
            Type::Subarray(dimensions, order, inner) => {
                let indices = |[size, part, start]: &[usize; 3]| ((*start..start + part).collect(), *size);
                return array(&inner.map(), &dimensions.iter().map(indices).collect::<Vec<_>>(), *order);
            }
            Type::Distributed(rank, dimensions, order, inner) => {
                let mut rest = *rank;
                let mut all = Vec::new();
                for (size, distribution, of) in dimensions.iter().rev() {
                    all.insert(0, (owned(*size, *distribution, rest % of, *of), *size));
                    rest /= of;
                }
                return array(&inner.map(), &all, *order);
            }
        }
        map
    }

    pub fn layout(&self) -> Result<Layout, LayoutError> {
        match self {
            Type::Bytes(bytes) => Ok(Layout::bytes(*bytes)),
            Type::Contiguous(count, inner) => inner.layout()?.contiguous(*count),
            Type::Strided(count, block, stride, inner) => inner.layout()?.strided(*count, *block, *stride),
            Type::Vector(count, block, stride, inner) => inner.layout()?.vector(*count, *block, *stride),
            Type::Indexed(blocks, inner) => inner.layout()?.indexed(blocks.iter().copied()),
            Type::Struct(blocks) => {
                let layouts: Result<Vec<_>, _> = blocks.iter().map(|(.., inner)| inner.layout()).collect();
                let layouts = layouts?;
                Layout::structured(blocks.iter().zip(&layouts).map(|((displacement, count, _), layout)| {
                    Block { displacement: *displacement, count: *count, layout }
                }))
            }
            Type::Resized(lower, extent, inner) => inner.layout()?.resized(*lower, *extent),
            Type::Subarray(dimensions, order, inner) => {
                let list = |which: usize| dimensions.iter().map(|d| d[which]).collect::<Vec<_>>();
                inner.layout()?.subarray(&list(0), &list(1), &list(2), *order)
            }
            Type::Distributed(rank, dimensions, order, inner) => {
                let sizes: Vec<_> = dimensions.iter().map(|d| d.0).collect();
                let distributions: Vec<_> = dimensions.iter().map(|d| d.1).collect();
                let processes: Vec<_> = dimensions.iter().map(|d| d.2).collect();
                inner.layout()?.distributed(*rank, &sizes, &distributions, &processes, *order)
            }
        }
    }
}

/// A random type that packs at most about `bytes` bytes.
pub fn random_type(random: &mut Random, bytes: usize, depth: usize) -> Type {
    if depth == 0 || bytes < 8 {
        let usual = [1, 2, 4, 8, 8, 12, 16, 3, 24];
        let any = [random.below(5), random.below(70), usual[random.below(9)], usual[random.below(9)]];
        return Type::Bytes(any[random.below(4)].min(bytes.max(1)));
    }
    let parts = [0, 1, 2, 3, 4, 9, 17, 30][random.below(8)].min(bytes);
    let mut inner = |divisor: usize| random_type(random, bytes / divisor.max(1), depth - 1);
    let (inner, other) = (inner(2 * parts.max(1)), inner(parts.max(2)));
    let map = inner.map();
    if map.0.len() > bytes / 4 {
        return inner;
    }
    let extent = map.extent();
    let order = if random.below(2) == 0 { ArrayOrder::C } else { ArrayOrder::Fortran };
    let away = |random: &mut Random| random.below(80) as isize - 40;
    let boxed = Box::new(inner.clone());
    match random.below(10) {
        0 => Type::Contiguous(parts, boxed),
        1 => Type::Strided(parts, random.below(3), away(random), boxed),
        2 => {
            // Often just touching the block before.
            let block = 1 + random.below(2);
            Type::Strided(parts, block, block as isize * extent + [0, 0, 4, -8][random.below(4)], boxed)
        }
        3 => Type::Vector(parts, random.below(3), random.below(7) as isize - 3, boxed),
        4 => Type::Indexed((0..parts).map(|_| (random.below(3), away(random) * 4)).collect(), boxed),
        5 => {
            let mut at = 0;
            let mut block = |random: &mut Random| {
                let block = (1 + random.below(2), at);
                at += block.0 as isize * extent + [0, 0, 0, 4, 8, 20][random.below(6)];
                block
            };
            Type::Indexed((0..parts).map(|_| block(random)).collect(), boxed)
        }
        6 => {
            let mut block = |i: usize| {
                let inner = if i % 2 == 0 { inner.clone() } else { other.clone() };
                (away(random) + 64 * i as isize, random.below(3), inner)
            };
            Type::Struct((0..parts.min(5)).map(&mut block).collect())
        }
        7 => Type::Resized(away(random), away(random) + 20, boxed),
        8 => {
            let mut dimension = || {
                let size = 1 + random.below(5);
                let part = 1 + random.below(size);
                [size, part, random.below(size - part + 1)]
            };
            let dimensions = if bytes > 200 { 3 } else { 2 };
            Type::Subarray((0..dimensions).map(|_| dimension()).collect(), order, boxed)
        }
        _ => {
            let mut dimension = || {
                let (size, of) = (1 + random.below(7), 1 + random.below(3));
                match random.below(5) {
                    0 => (size, Distribution::None, 1),
                    1 => (size, Distribution::Block(None), of),
                    2 => (size, Distribution::Block(Some(size.div_ceil(of) + random.below(2))), of),
                    3 => (size, Distribution::Cyclic(None), of),
                    _ => (size, Distribution::Cyclic(Some(1 + random.below(3))), of),
                }
            };
            let dimensions: Vec<_> = (0..2).map(|_| dimension()).collect();
            let processes = dimensions.iter().map(|d| d.2).product();
            Type::Distributed(random.below(processes), dimensions, order, boxed)
        }
    }
}
