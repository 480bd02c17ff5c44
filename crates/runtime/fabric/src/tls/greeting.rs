//! The first bytes of a connection. They show that the sender knows the job's secret, so that nothing else of
//! a connection is looked at before that, not even by the TLS library.
//!
//! ```text
//! 0 "evenkeel" | 8 connecting node | 12 node that is meant | 16 random bytes | 32 HMAC-SHA256 of 0..32 | 64
//! ```
//!
//! A process that has recorded a greeting can send it again. It then comes as far as the TLS handshake, for
//! which it needs a private key.

use crate::node::NodeId;
use evenkeel_secret::{JobSecret, random};
use ring::hmac;

/// Length of a greeting.
pub(super) const GREETING_BYTES: usize = 64;

const MAGIC: [u8; 8] = *b"evenkeel";
const SIGNED_BYTES: usize = 32;

/// What greetings of one job are made and checked with.
pub(super) struct GreetingKey(hmac::Key);

impl GreetingKey {
    pub fn new(secret: &JobSecret) -> GreetingKey {
        GreetingKey(hmac::Key::new(hmac::HMAC_SHA256, &secret.derive("evenkeel greeting", 0)))
    }

    /// The greeting of a connection from one node to another.
    pub fn greeting(&self, from: NodeId, to: NodeId) -> std::io::Result<[u8; GREETING_BYTES]> {
        let mut bytes = [0; GREETING_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&from.0.to_le_bytes());
        bytes[12..16].copy_from_slice(&to.0.to_le_bytes());
        bytes[16..SIGNED_BYTES].copy_from_slice(&random::<16>()?);
        let tag = hmac::sign(&self.0, &bytes[..SIGNED_BYTES]);
        bytes[SIGNED_BYTES..].copy_from_slice(tag.as_ref());
        Ok(bytes)
    }

    /// The node that connects to this one; None if the sender does not know the secret, or if another node
    /// is meant.
    pub fn check(&self, bytes: &[u8; GREETING_BYTES], this: NodeId) -> Option<NodeId> {
        let (signed, tag) = bytes.split_at(SIGNED_BYTES);
        // In constant time; and nothing is read from the bytes before.
        hmac::verify(&self.0, signed, tag).ok()?;
        let number = |at: usize| u32::from_le_bytes(signed[at..at + 4].try_into().expect("four bytes"));
        let is_for_this = signed[..8] == MAGIC && number(12) == this.0;
        is_for_this.then_some(NodeId(number(8)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_accepted_with_the_jobs_secret_and_by_the_node_that_is_meant() {
        let key = GreetingKey::new(&JobSecret::new([1; 32]));
        let greeting = key.greeting(NodeId(3), NodeId(5)).unwrap();
        assert_eq!(key.check(&greeting, NodeId(5)), Some(NodeId(3)));
        assert_eq!(key.check(&greeting, NodeId(3)), None, "it is sent back to its sender");
        assert_eq!(GreetingKey::new(&JobSecret::new([2; 32])).check(&greeting, NodeId(5)), None);
        for bit in 0..GREETING_BYTES * 8 {
            let mut other = greeting;
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key.check(&other, NodeId(5)), None, "bit {bit}");
        }
    }
}
