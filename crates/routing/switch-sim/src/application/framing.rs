//! How messages are divided into frames.

/// How messages are divided into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// The most bytes of a message in one frame.
    pub payload: u32,
    /// Bytes of a frame around them.
    pub overhead: u32,
    /// The least size of a frame, including the overhead.
    pub least: u32,
}

impl Framing {
    /// The sizes of the frames of a message.
    pub fn frames(&self, bytes: u32) -> Vec<u32> {
        let full = bytes / self.payload;
        let rest = (bytes % self.payload > 0 || bytes == 0).then_some(bytes % self.payload);
        let payloads = (0..full).map(|_| self.payload).chain(rest);
        payloads.map(|p| (p + self.overhead).max(self.least)).collect()
    }
}
