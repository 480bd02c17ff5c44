//! A buffer of a schedule run. Large messages are taken over whole and given away without copying.

use bytes::Bytes;
use std::ops::Range;

/// Less than this is copied: sharing costs an allocation and atomic reference counts.
const MIN_SHARED_BYTES: usize = 1024;

enum Content {
    /// Zeros that have not been written yet: no memory has been allocated.
    Untouched,
    Own(Vec<u8>),
    Shared(Bytes),
}

/// Bytes of fixed length.
pub struct Buffer {
    length: usize,
    content: Content,
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Buffer {
        Buffer { length: bytes.len(), content: Content::Own(bytes) }
    }
}

impl Buffer {
    /// Zeros.
    pub fn new(length: usize) -> Buffer {
        Buffer { length, content: Content::Untouched }
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.length
    }

    /// The bytes of a range, as they are now.
    ///
    /// # Panics
    /// If the range is not within the buffer.
    pub fn share(&mut self, range: Range<usize>) -> Bytes {
        if range.len() < MIN_SHARED_BYTES {
            return match &self.content {
                Content::Untouched => Bytes::from(vec![0; range.len()]),
                Content::Own(own) => Bytes::copy_from_slice(&own[range]),
                Content::Shared(shared) => Bytes::copy_from_slice(&shared[range]),
            };
        }
        self.as_shared().slice(range)
    }

    fn as_shared(&mut self) -> &Bytes {
        let bytes = match std::mem::replace(&mut self.content, Content::Untouched) {
            Content::Untouched => Bytes::from(vec![0; self.length]),
            Content::Own(own) => Bytes::from(own),
            Content::Shared(shared) => shared,
        };
        self.content = Content::Shared(bytes);
        let Content::Shared(shared) = &self.content else { unreachable!("it has just been shared") };
        shared
    }

    fn as_own(&mut self) -> &mut Vec<u8> {
        let own = match std::mem::replace(&mut self.content, Content::Untouched) {
            Content::Untouched => vec![0; self.length],
            Content::Own(own) => own,
            // Copies if a message still holds them.
            Content::Shared(shared) => Vec::from(shared),
        };
        self.content = Content::Own(own);
        let Content::Own(own) = &mut self.content else { unreachable!("it has just been made its own") };
        own
    }

    /// Puts bytes at a place; false, and nothing is put, if they do not fit there.
    #[must_use]
    pub fn put(&mut self, at: usize, bytes: Bytes) -> bool {
        let Some(end) = at.checked_add(bytes.len()).filter(|end| *end <= self.length) else { return false };
        if bytes.len() == self.length && bytes.len() >= MIN_SHARED_BYTES {
            self.content = Content::Shared(bytes);
        } else {
            self.as_own()[at..end].copy_from_slice(&bytes);
        }
        true
    }

    /// All of it.
    pub fn into_bytes(mut self) -> Bytes {
        self.as_shared().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    /// Ranges are shared, replaced and written in random order: the bytes are those of a plain vector,
    /// and what has been shared does not change.
    #[test]
    fn a_buffer_behaves_like_a_vector() {
        let mut random = Random::new(3);
        for length in [0, 1, 100, MIN_SHARED_BYTES, 5000] {
            for _ in 0..200 {
                let (mut buffer, mut plain) = (Buffer::new(length), vec![0; length]);
                let mut given: Vec<(Bytes, Vec<u8>)> = Vec::new();
                for _ in 0..12 {
                    let at = random.below(length + 1);
                    let end = if random.below(3) == 0 { length } else { at + random.below(length + 1 - at) };
                    let at = if random.below(3) == 0 { 0 } else { at };
                    if random.below(2) == 0 {
                        let some: Vec<u8> = (at..end).map(|_| random.below(256) as u8).collect();
                        plain[at..end].copy_from_slice(&some);
                        assert!(buffer.put(at, some.into()));
                    } else {
                        given.push((buffer.share(at..end), plain[at..end].to_vec()));
                    }
                }
                assert!(given.iter().all(|(shared, then)| shared == then));
                assert_eq!(buffer.into_bytes(), plain);
            }
        }
        assert!(!Buffer::new(10).put(8, vec![1, 2, 3].into()));
        assert!(!Buffer::new(10).put(usize::MAX, vec![1, 2, 3].into()));
    }
}
