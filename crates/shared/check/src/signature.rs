//! Type signatures: sequences of elements, compared without writing them out.
//!
//! A signature may have billions of elements. So each has a polynomial hash, from which the hash of a
//! repetition, of two sequences one after the other, and of the beginning of one follow ("Hash functions for
//! datatype signatures in MPI", Langou, Bosilca, Fagg, Dongarra, EuroPVM/MPI 2005). Two that differ have the
//! same hash with a probability of about their length in 2^61.

use evenkeel_trace::checks::file::Elements;

const MODULUS: u128 = (1 << 61) - 1;
const BASE: u64 = 0x1357_9bdf_0246_8ac1;

fn multiply(one: u64, other: u64) -> u64 {
    (u128::from(one) * u128::from(other) % MODULUS) as u64
}

fn add(one: u64, other: u64) -> u64 {
    ((u128::from(one) + u128::from(other)) % MODULUS) as u64
}

/// Hash of a sequence, and the base to the power of its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hash {
    value: u64,
    power: u64,
}

impl Hash {
    const EMPTY: Hash = Hash { value: 0, power: 1 };

    fn one(key: u64) -> Hash {
        Hash { value: key % (MODULUS as u64 - 1) + 1, power: BASE }
    }

    fn then(self, next: Hash) -> Hash {
        Hash {
            value: add(multiply(self.value, next.power), next.value),
            power: multiply(self.power, next.power),
        }
    }

    fn repeated(self, mut times: u64) -> Hash {
        let (mut result, mut square) = (Hash::EMPTY, self);
        while times > 0 {
            if times & 1 == 1 {
                result = result.then(square);
            }
            square = square.then(square);
            times >>= 1;
        }
        result
    }
}

/// FNV-1a, for names.
fn key_of(text: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = text.iter().fold(0xcbf2_9ce4_8422_2325, step);
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 3
}

/// What all elements are, if they are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alike {
    Nothing,
    One { class: u8, bytes: u64 },
    Mixed,
}

impl Alike {
    fn and(self, other: Alike) -> Alike {
        match (self, other) {
            (Alike::Nothing, other) => other,
            (one, Alike::Nothing) => one,
            (one, other) if one == other => one,
            _ => Alike::Mixed,
        }
    }
}

/// A sequence of elements.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    /// How many there are.
    pub length: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// By their names, and by class and size.
    named: Hash,
    classed: Hash,
    alike: Alike,
    /// Pairs match structures of the same two, and packed data match anything.
    is_special: bool,
}

impl Sequence {
    const EMPTY: Sequence = Sequence {
        length: 0,
        bytes: 0,
        named: Hash::EMPTY,
        classed: Hash::EMPTY,
        alike: Alike::Nothing,
        is_special: false,
    };

    /// `name`: `i:MPI_INT`, of class and name.
    fn one(name: &str, bytes: u64) -> Sequence {
        let class = name.as_bytes().first().copied().unwrap_or(b'n');
        let is_byte = class == b'b';
        let mut classed = vec![class];
        classed.extend_from_slice(&bytes.to_le_bytes());
        if class == b'n' {
            classed.extend_from_slice(name.as_bytes());
        }
        Sequence {
            length: 1,
            bytes,
            named: Hash::one(key_of(name.as_bytes())),
            classed: Hash::one(key_of(&classed)),
            alike: Alike::One { class, bytes },
            is_special: class == b'p' || name.ends_with("MPI_PACKED") || (bytes == 0 && !is_byte),
        }
    }

    fn then(self, next: Sequence) -> Option<Sequence> {
        Some(Sequence {
            length: self.length.checked_add(next.length)?,
            bytes: self.bytes.checked_add(next.bytes)?,
            named: self.named.then(next.named),
            classed: self.classed.then(next.classed),
            alike: self.alike.and(next.alike),
            is_special: self.is_special || next.is_special,
        })
    }

    fn repeated(self, times: u64) -> Option<Sequence> {
        if times == 0 {
            return Some(Sequence::EMPTY);
        }
        Some(Sequence {
            length: self.length.checked_mul(times)?,
            bytes: self.bytes.checked_mul(times)?,
            named: self.named.repeated(times),
            classed: self.classed.repeated(times),
            ..self
        })
    }

    fn is_bytes(&self) -> bool {
        matches!(self.alike, Alike::One { class: b'b', .. })
    }
}

/// How two signatures compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They are the same.
    Same,
    /// Other types of the same kind and size, or bytes on one side.
    Alike,
    /// They are not.
    Different,
    /// That cannot be said.
    Unknown,
}

/// The elements of a rank's datatypes.
#[derive(Clone, Debug, Default)]
pub struct Signatures {
    elements: Vec<Elements>,
    /// `None`: too long to be counted.
    sequences: Vec<Option<Sequence>>,
}

/// Elements of a datatype, so many times.
#[derive(Clone, Copy, Debug)]
pub struct Signature<'a> {
    /// Those of the rank.
    pub of: &'a Signatures,
    /// Which.
    pub elements: u32,
    /// How often.
    pub count: u64,
}

impl Signatures {
    /// Of a rank.
    pub fn new(elements: &[Elements]) -> Signatures {
        let mut sequences: Vec<Option<Sequence>> = Vec::with_capacity(elements.len());
        for one in elements {
            let sequence = match one {
                Elements::One(name, bytes) => Some(Sequence::one(name, *bytes)),
                Elements::Sequence(parts) => {
                    parts.iter().try_fold(Sequence::EMPTY, |sum, &(times, number)| {
                        sum.then(sequences[number as usize]?.repeated(times)?)
                    })
                }
            };
            sequences.push(sequence);
        }
        Signatures { elements: elements.to_vec(), sequences }
    }

    fn whole(&self, elements: u32, count: u64) -> Option<Sequence> {
        (*self.sequences.get(elements as usize)?)?.repeated(count)
    }

    /// The first `length` of so many times these elements.
    fn beginning(&self, elements: u32, count: u64, length: u64) -> Option<Sequence> {
        let one = (*self.sequences.get(elements as usize)?)?;
        if one.length == 0 {
            return (length == 0).then_some(Sequence::EMPTY);
        }
        let times = (length / one.length).min(count);
        let rest = length - times * one.length;
        let whole = one.repeated(times)?;
        if rest == 0 {
            return Some(whole);
        }
        if times == count {
            return None;
        }
        let Elements::Sequence(parts) = &self.elements[elements as usize] else { return None };
        let mut sum = whole;
        let mut left = rest;
        for &(times, number) in parts {
            let part = (*self.sequences.get(number as usize)?)?.repeated(times)?;
            if part.length > left {
                return sum.then(self.beginning(number, times, left)?);
            }
            sum = sum.then(part)?;
            left -= part.length;
        }
        Some(sum)
    }
}

impl Signature<'_> {
    /// All of it.
    pub fn whole(&self) -> Option<Sequence> {
        self.of.whole(self.elements, self.count)
    }

    /// Whether both are the same; `other` may be longer if `is_prefix`.
    pub fn compare(&self, other: &Signature, is_prefix: bool) -> Comparison {
        let (Some(mine), Some(theirs)) = (self.whole(), other.whole()) else { return Comparison::Unknown };
        if mine.length == 0 && (is_prefix || theirs.length == 0) {
            return Comparison::Same;
        }
        if mine.is_special || theirs.is_special {
            let is_same = mine.named == theirs.named && mine.length == theirs.length;
            return if is_same { Comparison::Same } else { Comparison::Unknown };
        }
        if mine.is_bytes() != theirs.is_bytes() {
            let fits = if is_prefix { mine.bytes <= theirs.bytes } else { mine.bytes == theirs.bytes };
            return if fits { Comparison::Alike } else { Comparison::Different };
        }
        let theirs = if is_prefix && theirs.length > mine.length {
            match other.of.beginning(other.elements, other.count, mine.length) {
                Some(beginning) => beginning,
                None => return Comparison::Unknown,
            }
        } else {
            theirs
        };
        if mine.length != theirs.length {
            return Comparison::Different;
        }
        match (mine.named == theirs.named, mine.classed == theirs.classed) {
            (true, _) => Comparison::Same,
            (false, true) => Comparison::Alike,
            (false, false) => Comparison::Different,
        }
    }

    /// `3 elements of MPI_INT`, or as much as can be said.
    pub fn describe(&self) -> String {
        let Some(whole) = self.whole() else { return format!("{} elements", self.count) };
        let name = self.name(self.elements, 0);
        match name {
            Some(name) if whole.length == 1 => format!("1 element of {name}"),
            Some(name) => format!("{} elements of {name}", whole.length),
            None => format!("{} elements of several types, {} bytes", whole.length, whole.bytes),
        }
    }

    /// The name of all elements, if they have one.
    fn name(&self, elements: u32, depth: u32) -> Option<String> {
        match self.of.elements.get(elements as usize)? {
            Elements::One(name, _) => Some(name.get(2..).unwrap_or(name).to_string()),
            Elements::Sequence(_) if depth > 32 => None,
            Elements::Sequence(parts) => {
                let mut name = None;
                for (_, number) in parts.iter().filter(|(times, _)| *times > 0) {
                    let of_part = self.name(*number, depth + 1)?;
                    if name.as_ref().is_some_and(|name| *name != of_part) {
                        return None;
                    }
                    name = Some(of_part);
                }
                name
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    fn named(name: &str, bytes: u64) -> Elements {
        Elements::One(name.into(), bytes)
    }

    /// Written out: the oracle.
    fn flat(elements: &[Elements], number: u32) -> Vec<String> {
        match &elements[number as usize] {
            Elements::One(name, _) => vec![name.clone()],
            Elements::Sequence(parts) => {
                let part = |&(times, number): &(u64, u32)| {
                    let one = flat(elements, number);
                    (0..times).flat_map(|_| one.clone()).collect::<Vec<_>>()
                };
                parts.iter().flat_map(part).collect()
            }
        }
    }

    #[test]
    fn comparisons_are_those_of_the_elements_written_out() {
        let mut random = Random::new(16);
        let mut seen = [0; 2];
        for _ in 0..2000 {
            let mut elements = vec![named("i:MPI_INT", 4), named("f:MPI_DOUBLE", 8)];
            for _ in 0..6 {
                let known = elements.len();
                let parts =
                    (0..random.below(4)).map(|_| (random.below(4) as u64, random.below(known) as u32));
                elements.push(Elements::Sequence(parts.collect()));
            }
            let of = Signatures::new(&elements);
            let mut draw = || (random.below(8) as u32, random.below(4) as u64);
            let ((one, times), (other, other_times)) = (draw(), draw());
            let is_prefix = random.below(2) == 0;
            let written = |number, times: u64| {
                let one = flat(&elements, number);
                (0..times).flat_map(|_| one.clone()).collect::<Vec<_>>()
            };
            let (mine, theirs) = (written(one, times), written(other, other_times));
            let expected = if is_prefix { theirs.starts_with(&mine) } else { mine == theirs };
            let mine = Signature { of: &of, elements: one, count: times };
            let theirs = Signature { of: &of, elements: other, count: other_times };
            let found = mine.compare(&theirs, is_prefix);
            assert_eq!(found == Comparison::Same, expected, "{elements:?} {mine:?} {theirs:?}");
            assert!(matches!(found, Comparison::Same | Comparison::Different));
            seen[usize::from(expected)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }

    #[test]
    fn kinds_and_bytes_are_alike_and_nothing_else_is() {
        let of = Signatures::new(&[
            named("i:MPI_LONG", 8),
            named("i:MPI_INT64_T", 8),
            named("f:MPI_DOUBLE", 8),
            named("b:MPI_BYTE", 1),
            named("p:MPI_2INT", 8),
            named("n:MPI_PACKED", 1),
            named("n:MPI_CHAR", 1),
            named("n:MPI_WCHAR", 1),
        ]);
        let one = |elements, count| Signature { of: &of, elements, count };
        assert_eq!(one(0, 3).compare(&one(1, 3), false), Comparison::Alike);
        assert_eq!(one(0, 3).compare(&one(2, 3), false), Comparison::Different);
        assert_eq!(one(0, 3).compare(&one(3, 24), false), Comparison::Alike);
        assert_eq!(one(0, 3).compare(&one(3, 23), false), Comparison::Different);
        assert_eq!(one(0, 3).compare(&one(3, 25), true), Comparison::Alike);
        assert_eq!(one(4, 1).compare(&one(0, 1), false), Comparison::Unknown);
        assert_eq!(one(5, 8).compare(&one(0, 1), false), Comparison::Unknown);
        assert_eq!(one(6, 1).compare(&one(7, 1), false), Comparison::Different);
        assert_eq!(one(2, u64::MAX / 2).compare(&one(2, 1), false), Comparison::Unknown);
    }

    #[test]
    fn names_are_told() {
        let of = Signatures::new(&[named("i:MPI_INT", 4), Elements::Sequence(vec![(5, 0)])]);
        assert_eq!(Signature { of: &of, elements: 1, count: 2 }.describe(), "10 elements of MPI_INT");
    }
}
