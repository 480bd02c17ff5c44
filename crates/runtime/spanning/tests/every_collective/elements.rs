//! What the calls of this test reduce, and how they find out that something is wrong.

use std::fmt::Debug;

/// What went wrong, as a sentence.
pub type Wrong = String;

/// Bytes of an element.
pub const ELEMENT: usize = 8;

/// Fails unless both are the same. `what`: what they are.
pub fn equal<T: PartialEq + Debug>(found: T, expected: T, what: &str) -> Result<(), Wrong> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?} in place of {expected:?}")) }
}

/// Elements as functions x → ax + b, of which the left one is applied first. The composition is associative
/// and does not commute.
pub fn composed(left: &[u8], right: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    elementwise(left, right, |left, right| {
        let ([a, b], [c, d]) = ([&left[..4], &left[4..]].map(word), [&right[..4], &right[4..]].map(word));
        [a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)].map(u32::to_le_bytes).concat()
    })
}

/// Elements as numbers.
pub fn summed(left: &[u8], right: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    elementwise(left, right, |left, right| word(left).wrapping_add(word(right)).to_le_bytes().to_vec())
}

fn elementwise(left: &[u8], right: &[u8], combine: impl Fn(&[u8], &[u8]) -> Vec<u8>) -> Vec<u8> {
    assert_eq!(left.len(), right.len());
    left.chunks(ELEMENT).zip(right.chunks(ELEMENT)).flat_map(|(left, right)| combine(left, right)).collect()
}
