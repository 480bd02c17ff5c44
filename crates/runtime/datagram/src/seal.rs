//! Seals: each datagram is encrypted and authenticated by itself, with AES-256-GCM and a key of the node that
//! sends it.
//!
//! ```text
//! 0 sending node | 4 how many datagrams the node has sent | 12 encrypted frame | tag of 16 bytes
//! ```
//!
//! The first twelve bytes are the nonce, and are not secret. No nonce is used twice with one key: ranks of a
//! node draw numbers from one counter in their shared memory, the key is made for the job, and each node has
//! another one. A process that records a datagram can send it again, also to another node of the job. Frames
//! bear that.

use crate::frame::{Frame, MAX_FRAME_BYTES};
use evenkeel_secret::JobSecret;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, MAX_TAG_LEN, NONCE_LEN, Nonce, UnboundKey};

/// The longest datagram.
pub const MAX_DATAGRAM_BYTES: usize = NONCE_LEN + MAX_FRAME_BYTES + MAX_TAG_LEN;

/// Seals and opens the datagrams of a job, as one of its nodes.
pub struct Sealer {
    node: u32,
    /// One for each node of the job.
    keys: Vec<LessSafeKey>,
}

impl Sealer {
    /// For node number `node` of so many.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn new(secret: &JobSecret, node: u32, nodes: u32) -> Sealer {
        assert!(node < nodes);
        let key = |node| {
            let key = UnboundKey::new(&AES_256_GCM, &secret.derive("evenkeel datagram", node));
            LessSafeKey::new(key.expect("a key of 32 bytes"))
        };
        Sealer { node, keys: (0..nodes).map(key).collect() }
    }

    /// Makes the datagram of a frame in `datagram`. `number` must be another one for each datagram of this
    /// node.
    ///
    /// # Panics
    /// If the frame is too long.
    pub fn seal(&self, number: u64, frame: &Frame<'_>, datagram: &mut Vec<u8>) {
        datagram.clear();
        datagram.extend_from_slice(&self.node.to_le_bytes());
        datagram.extend_from_slice(&number.to_le_bytes());
        let nonce: [u8; NONCE_LEN] = datagram[..].try_into().expect("twelve bytes");
        frame.write(datagram);
        let key = &self.keys[self.node as usize];
        let sealed = key.seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::empty(),
            &mut datagram[NONCE_LEN..],
        );
        datagram.extend_from_slice(sealed.expect("short enough").as_ref());
    }

    /// The node that has sealed a datagram, and the frame in it, which is decrypted in place; `None` if it is
    /// not of another node of this job.
    pub fn open<'a>(&self, datagram: &'a mut [u8]) -> Option<(u32, Frame<'a>)> {
        let (nonce, sealed) = datagram.split_first_chunk_mut::<NONCE_LEN>()?;
        let node = u32::from_le_bytes(nonce[..4].try_into().expect("four bytes"));
        let key = self.keys.get(node as usize).filter(|_| node != self.node)?;
        let opened = key.open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::empty(), sealed).ok()?;
        Some((node, Frame::read(opened)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    fn sealers(secret: u8) -> Vec<Sealer> {
        (0..3).map(|node| Sealer::new(&JobSecret::new([secret; 32]), node, 3)).collect()
    }

    const FRAME: Frame<'static> =
        Frame::Statement { communicator: 3, number: 4, content: b"sixteen bytes..." };

    #[test]
    fn a_datagram_is_opened_by_every_other_node_of_the_job() {
        let nodes = sealers(1);
        let mut datagram = Vec::new();
        nodes[1].seal(9, &FRAME, &mut datagram);
        assert!(datagram.len() <= MAX_DATAGRAM_BYTES);
        assert!(!datagram.windows(7).any(|bytes| bytes == b"sixteen"), "it is encrypted");
        for node in [0, 2] {
            assert_eq!(nodes[node].open(&mut datagram.clone()), Some((1, FRAME)));
        }
        assert_eq!(nodes[1].open(&mut datagram.clone()), None, "sent back to its sender");
        assert_eq!(sealers(2)[0].open(&mut datagram), None, "of another job");
    }

    #[test]
    fn a_changed_datagram_is_refused() {
        let nodes = sealers(1);
        let mut datagram = Vec::new();
        nodes[0].seal(1 << 50, &FRAME, &mut datagram);
        for bit in 0..datagram.len() * 8 {
            let mut other = datagram.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(nodes[1].open(&mut other), None, "bit {bit}");
        }
        for length in 0..datagram.len() {
            assert_eq!(nodes[1].open(&mut datagram[..length].to_vec()), None, "{length}");
        }
    }

    #[test]
    fn what_strangers_send_is_refused() {
        let nodes = sealers(1);
        let mut random = Random::new(7);
        for _ in 0..100_000 {
            let length = random.bits() as usize % (MAX_DATAGRAM_BYTES + 1);
            let mut bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
            if let Some(first) = bytes.first_chunk_mut::<4>() {
                *first = [1, 0, 0, 0]; // a node that there is
            }
            assert_eq!(nodes[0].open(&mut bytes), None);
        }
    }
}
