//! What a node knows of another one: its connections, and what waits to be sent.

use super::frame::OutgoingFrame;
use super::session::MAX_RECORD_BYTES;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// For how long a node is tried again that cannot be reached: it may not listen yet, or be kept from
/// accepting by other processes.
const CONNECT_TIME: Duration = Duration::from_secs(15);
/// After how long the first attempt is repeated; each further one takes twice as long, up to the longest.
const FIRST_DELAY: Duration = Duration::from_millis(1);
const LONGEST_DELAY: Duration = Duration::from_millis(250);

/// Attempts to connect to a node.
struct Attempts {
    /// Since when the network says that the node cannot be reached.
    unreachable_since: Option<Instant>,
    delay: Duration,
    /// When to try again; None: an attempt is under way.
    next: Option<Instant>,
}

/// Another node.
pub(super) struct Peer {
    /// Where it listens; None: it is this node.
    pub address: Option<SocketAddr>,
    /// Why it has been given up, if it has.
    pub loss: Option<String>,
    /// Whether it has said that it sends no more.
    pub is_leaving: bool,
    /// The established connections that each end has made.
    pub outgoing: Option<u64>,
    pub incoming: Option<u64>,
    /// The one over which the last frame was sent.
    sends_over: Option<u64>,
    attempts: Option<Attempts>,
    queue: VecDeque<OutgoingFrame>,
    /// Bytes of the first frame that have been encrypted.
    begun: usize,
    /// Bytes that wait in the queue.
    waiting: usize,
}

impl Peer {
    pub fn new(address: Option<SocketAddr>) -> Peer {
        Peer {
            address,
            loss: None,
            is_leaving: false,
            outgoing: None,
            incoming: None,
            sends_over: None,
            attempts: None,
            queue: VecDeque::new(),
            begun: 0,
            waiting: 0,
        }
    }

    /// The connection over which this node sends next. It changes between frames only.
    pub fn connection(&mut self) -> Option<u64> {
        if !self.is_amid_frame() {
            self.sends_over = self.outgoing.or(self.incoming);
        }
        self.sends_over
    }

    /// Whether there is an established connection.
    pub fn is_connected(&self) -> bool {
        self.outgoing.is_some() || self.incoming.is_some()
    }

    /// Adds a frame to what waits. To a node that is leaving nothing is sent.
    pub fn enqueue(&mut self, frame: OutgoingFrame) {
        if self.is_leaving {
            return;
        }
        self.waiting += frame.len();
        self.queue.push_back(frame);
    }

    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Moves bytes that wait to `bytes`, as many as a record holds.
    pub fn take_record(&mut self, bytes: &mut Vec<u8>) {
        while let Some(frame) = self.queue.front() {
            let room = MAX_RECORD_BYTES - bytes.len();
            if room == 0 {
                return;
            }
            let in_front = frame.front.len();
            let part = match frame.front.get(self.begun..).filter(|part| !part.is_empty()) {
                Some(front) => front,
                None => &frame.data[self.begun - in_front..],
            };
            let part = &part[..part.len().min(room)];
            bytes.extend_from_slice(part);
            self.begun += part.len();
            self.waiting -= part.len();
            if self.begun == frame.len() {
                self.queue.pop_front();
                self.begun = 0;
            }
        }
    }

    /// Whether a frame has been sent in part.
    fn is_amid_frame(&self) -> bool {
        self.begun > 0
    }

    /// A connection is gone over which the node has said that it sends no more. It does not read either.
    pub fn leaves(&mut self, key: u64) {
        self.is_leaving = true;
        for place in [&mut self.outgoing, &mut self.incoming] {
            place.take_if(|known| *known == key);
        }
        self.clear();
    }

    /// Drops what waits.
    fn clear(&mut self) {
        self.queue.clear();
        (self.begun, self.waiting) = (0, 0);
    }

    /// Gives the node up.
    pub fn lose(&mut self, why: String) {
        self.loss = Some(why);
        self.clear();
        (self.outgoing, self.incoming, self.attempts) = (None, None, None);
    }

    /// Whether to try to connect now. If so, an attempt is under way from now on.
    pub fn begin_attempt(&mut self, now: Instant) -> bool {
        if self.loss.is_some() {
            return false;
        }
        match &mut self.attempts {
            None => {
                self.attempts = Some(Attempts { unreachable_since: None, delay: FIRST_DELAY, next: None });
                true
            }
            Some(attempts) => attempts.next.take_if(|next| *next <= now).is_some(),
        }
    }

    /// The attempt has failed; `is_slow`: only because the node has not answered in time, which says nothing
    /// about whether it lives. Returns when to try again; None: it has been tried for long enough.
    pub fn attempt_failed(&mut self, now: Instant, is_slow: bool) -> Option<Instant> {
        let attempts = self.attempts.as_mut()?;
        let since = *attempts.unreachable_since.get_or_insert(now);
        if is_slow {
            attempts.unreachable_since = None;
        } else if now.duration_since(since) >= CONNECT_TIME || self.is_leaving {
            return None;
        }
        let next = now + attempts.delay;
        attempts.next = Some(next);
        attempts.delay = (2 * attempts.delay).min(LONGEST_DELAY);
        Some(next)
    }

    /// The attempt has succeeded.
    pub fn attempt_succeeded(&mut self) {
        self.attempts = None;
    }

    /// When to try to connect again, if something waits for that.
    pub fn next_attempt(&self) -> Option<Instant> {
        let attempts = self.attempts.as_ref().filter(|_| self.waiting > 0);
        attempts.and_then(|attempts| attempts.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_taken_in_order_record_by_record() {
        let mut peer = Peer::new(None);
        let mut expected = Vec::new();
        for length in [0, 1, 5000, 100_000, 3] {
            let data: Vec<u8> = (0..length).map(|i| (i % 253) as u8).collect();
            for frame in OutgoingFrame::of_message(b"head", data.into()) {
                expected.extend_from_slice(&frame.front);
                expected.extend_from_slice(&frame.data);
                peer.enqueue(frame);
            }
        }
        assert_eq!(peer.waiting(), expected.len());
        let mut taken = Vec::new();
        while peer.waiting() > 0 {
            let mut record = Vec::new();
            peer.take_record(&mut record);
            assert!(record.len() == MAX_RECORD_BYTES || peer.waiting() == 0);
            taken.extend_from_slice(&record);
        }
        assert!(taken == expected && !peer.is_amid_frame());
    }

    #[test]
    fn attempts_are_repeated_ever_more_slowly_and_not_for_ever() {
        let mut peer = Peer::new(None);
        let (start, mut now, mut count) = (Instant::now(), Instant::now(), 0);
        assert!(peer.begin_attempt(now) && !peer.begin_attempt(now), "one is under way");
        while let Some(next) = peer.attempt_failed(now, false) {
            assert!(!peer.begin_attempt(now), "not yet");
            now = next;
            assert!(peer.begin_attempt(now));
            count += 1;
        }
        let took = now.duration_since(start);
        assert!((CONNECT_TIME..CONNECT_TIME + LONGEST_DELAY).contains(&took), "{took:?}");
        assert!((60..80).contains(&count), "{count}");
    }

    #[test]
    fn a_node_that_is_slow_is_tried_for_ever() {
        let (mut peer, mut now) = (Peer::new(None), Instant::now());
        for _ in 0..10_000 {
            assert!(peer.begin_attempt(now));
            now = peer.attempt_failed(now, true).expect("it may live");
        }
    }
}
