//! A table with at most so many keys.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Spreads numbers that are often neighbours or addresses. Keys are not an attacker's.
#[derive(Default)]
pub struct Mix(u64);

/// Mixes the bits of a number (the finalizer of splitmix64).
pub fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0 ^ number);
    }
}

/// A table of values by number. A key that finds no room has none.
#[derive(Clone, Debug)]
pub struct BoundedMap<V, const MOST: usize> {
    values: HashMap<u64, V, BuildHasherDefault<Mix>>,
}

impl<V, const MOST: usize> Default for BoundedMap<V, MOST> {
    fn default() -> Self {
        BoundedMap { values: HashMap::default() }
    }
}

impl<V: Default, const MOST: usize> BoundedMap<V, MOST> {
    /// The value of a key.
    pub fn get(&self, key: u64) -> Option<&V> {
        self.values.get(&key)
    }

    /// The value of a key, a new one if it had none; None if there is no room.
    pub fn get_or_insert(&mut self, key: u64) -> Option<&mut V> {
        if self.values.len() >= MOST && !self.values.contains_key(&key) {
            return None;
        }
        Some(self.values.entry(key).or_default())
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.values = HashMap::default();
    }
}
