//! One of a run's buffers. Large messages are taken over whole and given away without being copied.

use bytes::Bytes;
use std::ops::Range;

/// Less than this is copied: sharing has a price, too.
const WORTH_SHARING: usize = 1024;

enum Content {
    /// Nobody has written anything yet: zeros, which nobody has had to write either.
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

    pub fn len(&self) -> usize {
        self.length
    }

    /// The bytes of a range, which lies in it, as they are now.
    pub fn share(&mut self, range: Range<usize>) -> Bytes {
        if range.len() < WORTH_SHARING {
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
        let Content::Shared(shared) = &self.content else { unreachable!("just put there") };
        shared
    }

    fn as_own(&mut self) -> &mut Vec<u8> {
        let own = match std::mem::replace(&mut self.content, Content::Untouched) {
            Content::Untouched => vec![0; self.length],
            Content::Own(own) => own,
            // Copied if somebody else still holds them.
            Content::Shared(shared) => Vec::from(shared),
        };
        self.content = Content::Own(own);
        let Content::Own(own) = &mut self.content else { unreachable!("just put there") };
        own
    }

    /// Puts bytes at a place; false if they do not fit there.
    pub fn put(&mut self, at: usize, bytes: Bytes) -> bool {
        let Some(end) = at.checked_add(bytes.len()).filter(|end| *end <= self.length) else { return false };
        if bytes.len() == self.length && bytes.len() >= WORTH_SHARING {
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

    /// Whatever is shared, replaced and written, in any order: the bytes are those of a plain vector, and
    /// what has been shared does not change.
    #[test]
    fn it_is_as_a_vector_would_be() {
        let mut dice = Random::new(3);
        for length in [0, 1, 100, WORTH_SHARING, 5000] {
            for _ in 0..200 {
                let (mut buffer, mut plain) = (Buffer::new(length), vec![0; length]);
                let mut given: Vec<(Bytes, Vec<u8>)> = Vec::new();
                for _ in 0..12 {
                    let at = dice.below(length + 1);
                    let end = if dice.below(3) == 0 { length } else { at + dice.below(length + 1 - at) };
                    let at = if dice.below(3) == 0 { 0 } else { at };
                    if dice.below(2) == 0 {
                        let some: Vec<u8> = (at..end).map(|_| dice.below(256) as u8).collect();
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
