//! The queue of future events, which are taken out window by window.
//!
//! Whatever a rank does reaches another rank no sooner than the least latency of the machine. So the
//! events of a window of that length cannot cause each other, and only events at the same rank need an
//! order among themselves. A window is sorted by rank, then by time. So the simulator walks through the
//! states of a million ranks from end to end instead of jumping about in memory, which would take most of
//! its time. (Conservative windows: Lubachevsky 1989.)

use crate::time::VirtualTime;
use std::collections::BTreeMap;

/// Something that happens at a rank at a time.
pub trait Event: Copy {
    /// When it happens.
    fn time(&self) -> VirtualTime;
    /// The rank at which it happens.
    fn rank(&self) -> u32;
}

/// The number of windows that are found by index. Later windows are kept in a tree.
const NEAR: u64 = 4096;

/// Future events, by window.
pub struct EventQueue<E> {
    window: VirtualTime,
    /// The number of the window that was taken out last, or of the first one.
    current: u64,
    /// The first window to which events may still be added.
    next: u64,
    /// Window w is in near[w mod NEAR] if it is less than NEAR away from the current one.
    near: Vec<Vec<E>>,
    in_near: usize,
    far: BTreeMap<u64, Vec<E>>,
    /// Empty vectors for future windows. There are few, because each keeps the capacity of the fullest
    /// window it held.
    spare: Vec<Vec<E>>,
}

const SPARE: usize = 4;

impl<E: Event> EventQueue<E> {
    /// An empty queue. `window`: no event causes another one sooner than this.
    ///
    /// # Panics
    /// If `window` is zero.
    pub fn new(window: VirtualTime) -> EventQueue<E> {
        assert!(window > VirtualTime::ZERO, "without latency there is no order of events");
        EventQueue {
            window,
            current: 0,
            next: 0,
            near: (0..NEAR).map(|_| Vec::new()).collect(),
            in_near: 0,
            far: BTreeMap::new(),
            spare: Vec::new(),
        }
    }

    /// Adds an event, in O(1) within the next 4096 windows and in O(log windows) beyond.
    pub fn push(&mut self, event: E) {
        let window = event.time().ps() / self.window.ps();
        debug_assert!(window >= self.next, "an event comes sooner than the least latency");
        if window < self.current + NEAR {
            let near = &mut self.near[(window % NEAR) as usize];
            if near.capacity() == 0 {
                *near = self.spare.pop().unwrap_or_default();
            }
            near.push(event);
            self.in_near += 1;
        } else {
            self.far.entry(window).or_default().push(event);
        }
    }

    /// Replaces `events` by the events of the next window that has any, ordered by rank, then time, then
    /// the order in which they were pushed. Returns false if there are no events.
    pub fn next_window(&mut self, events: &mut Vec<E>) -> bool {
        events.clear();
        if self.in_near == 0 {
            match self.far.keys().next() {
                None => return false,
                Some(first) => self.current = *first,
            }
        }
        // Windows that have come within reach of the index.
        while let Some(entry) = self.far.first_entry().filter(|e| *e.key() < self.current + NEAR) {
            let (window, mut come) = entry.remove_entry();
            self.in_near += come.len();
            // Its events in the tree were pushed before those that found the window in the index.
            let near = &mut self.near[(window % NEAR) as usize];
            come.append(near);
            *near = come;
        }
        while self.near[(self.current % NEAR) as usize].is_empty() {
            self.current += 1;
        }
        let used = std::mem::replace(events, std::mem::take(&mut self.near[(self.current % NEAR) as usize]));
        if self.spare.len() < SPARE {
            self.spare.push(used);
        }
        self.in_near -= events.len();
        self.next = self.current + 1;
        events.sort_by_key(|e| (e.rank(), e.time()));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, stream};

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Ping(VirtualTime, u32);
    impl Event for Ping {
        fn time(&self) -> VirtualTime {
            self.0
        }
        fn rank(&self) -> u32 {
            self.1
        }
    }

    #[test]
    fn every_event_comes_out_once_and_in_order_at_each_rank() {
        let mut queue = EventQueue::new(VirtualTime::from_ps(10));
        let mut random = stream(1, 0, RandomStream::Noise);
        let mut pushed = 0;
        let mut last = [VirtualTime::ZERO; 8];
        let push = |queue: &mut EventQueue<Ping>, random: &mut evenkeel_random::Random, now: u64| {
            // Some are far away, beyond the windows in the index.
            let ahead =
                if random.less_than(10) == 0 { random.less_than(1_000_000) } else { random.less_than(100) };
            queue.push(Ping(VirtualTime::from_ps(now + 10 + ahead), random.less_than(8) as u32));
        };
        for _ in 0..50 {
            push(&mut queue, &mut random, 0);
            pushed += 1;
        }
        let (mut events, mut popped, mut edge) = (Vec::new(), 0, 0);
        while queue.next_window(&mut events) {
            assert!(!events.is_empty());
            let window = events[0].0.ps() / 10;
            assert!(window >= edge);
            edge = window;
            for ping in &events {
                assert_eq!(ping.0.ps() / 10, window);
                assert!(last[ping.1 as usize] <= ping.0);
                last[ping.1 as usize] = ping.0;
                popped += 1;
                if pushed < 5000 {
                    push(&mut queue, &mut random, ping.0.ps());
                    pushed += 1;
                }
            }
            assert!(events.windows(2).all(|w| (w[0].1, w[0].0) <= (w[1].1, w[1].0)));
        }
        assert_eq!((popped, pushed), (5000, 5000));
        assert!(!queue.next_window(&mut events));
    }
}
