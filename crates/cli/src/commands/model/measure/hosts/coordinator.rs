//! Node 0's part: it sends, waits for answers, and takes the times.

use super::message::{HEAD, Head, Kind};
use crate::commands::model::measure::local::pass::Times;
use crate::commands::model::measure::local::signal_memory::{content, now_ns};
use evenkeel_fabric::{Event, NodeId, Wire};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// One pass of one scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub scenario: Scenario,
    pub peers: usize,
    /// Turns that are timed, and turns before them that only warm up.
    pub times: u64,
    pub warm_up: u64,
    /// When no further turn is begun if two have been timed: networks differ by a factor of thousands.
    pub enough_us: u64,
    /// Nodes that are one machine have too few cores: whoever waits gives the core away.
    pub share: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scenario {
    /// Node 0 signals each peer, each answers: o_s(p) and RTT(p).
    Exchange,
    /// Node 0 takes answers that are all there: o_r(p).
    Collect,
    /// A stream of signals to node 1: g. Each time is one of [`CREDIT`] of them.
    Stream,
    /// Messages of so many bytes to node 1 and back.
    Letters { bytes: usize },
}

/// Signals of a stream, how many of them may be under way, and after how many node 1 says how far it
/// is. The time from one such word to the next is a sample: few enough signals for most samples to be
/// free of interruptions.
const STREAM: u64 = 512;
const UNDER_WAY: u64 = 128;
pub const CREDIT: u64 = 16;
/// A node that says nothing for so long is taken to be gone.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Answers are taken to be there after so many round trips, and not before so long.
const TRIPS: u32 = 4;
const LEAST_TO_COLLECT: Duration = Duration::from_micros(100);

/// Why a task was not done; nodes by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// These did not answer.
    Silent(Vec<usize>),
    /// What came from there, or there, was not what was sent.
    Wrong(usize),
    /// The network has given the way there up.
    Lost(usize, String),
}

/// Node 0.
pub struct Lead<W> {
    wire: W,
    patience: Duration,
    /// Of the last turn.
    epoch: u64,
    /// By number of peers: the median of the last pass of exchanges.
    trips: HashMap<usize, Duration>,
}

impl<W: Wire> Lead<W> {
    pub fn new(wire: W, patience: Duration) -> Lead<W> {
        Lead { wire, patience, epoch: 0, trips: HashMap::new() }
    }

    pub fn run(&mut self, task: &Task) -> Result<Times, Trouble> {
        self.epoch += 1;
        self.send_all(task, Kind::Begin, |_| u64::from(task.share))?;
        self.answers(task, Kind::Ready)?;
        let (mut times, mut sink) = (Times::default(), Times::default());
        let began = Instant::now();
        for turn in 0..task.warm_up + task.times {
            let into = if turn < task.warm_up { &mut sink } else { &mut times };
            self.epoch += 1;
            match task.scenario {
                Scenario::Exchange => self.exchange(task, into)?,
                Scenario::Collect => self.collect(task, into)?,
                Scenario::Stream => self.stream(task, into)?,
                Scenario::Letters { bytes } => self.letter(task, bytes, into)?,
            }
            if times.whole.len() >= 2 && began.elapsed().as_micros() as u64 > task.enough_us {
                break;
            }
        }
        self.epoch += 1;
        self.send_all(task, Kind::End, |_| 0)?;
        if task.scenario == Scenario::Exchange {
            let mut sorted = times.whole.clone();
            sorted.sort_unstable();
            self.trips.insert(task.peers, Duration::from_nanos(sorted[sorted.len() / 2]));
        }
        Ok(times)
    }

    fn exchange(&mut self, task: &Task, times: &mut Times) -> Result<(), Trouble> {
        let epoch = self.epoch;
        let start = now_ns();
        self.send_all(task, Kind::Signal, |peer| content(epoch, peer))?;
        let posted = now_ns();
        self.answers(task, Kind::Answer)?;
        times.whole.push(now_ns() - start);
        times.posting.push(posted - start);
        Ok(())
    }

    /// Nothing is taken from the network until all answers have had time to come. Should one be late
    /// nevertheless, this turn takes longer, and medians do not mind.
    fn collect(&mut self, task: &Task, times: &mut Times) -> Result<(), Trouble> {
        let epoch = self.epoch;
        let pause = self
            .trips
            .get(&task.peers)
            .map_or(LEAST_TO_COLLECT, |trip| (*trip * TRIPS).max(LEAST_TO_COLLECT));
        self.send_all(task, Kind::Signal, |peer| content(epoch, peer))?;
        let sent = Instant::now();
        while sent.elapsed() < pause {
            rest(task.share);
        }
        let start = now_ns();
        self.answers(task, Kind::Answer)?;
        times.whole.push(now_ns() - start);
        Ok(())
    }

    fn stream(&mut self, task: &Task, times: &mut Times) -> Result<(), Trouble> {
        let (first, mut credited) = (self.epoch, 0);
        let mut before = None;
        for sent in 0..STREAM {
            // Here the stream is in full flow: as many are sent as are taken.
            while sent >= credited + UNDER_WAY {
                self.credit(task, first, credited)?;
                credited += CREDIT;
                let now = now_ns();
                times.whole.extend(before.replace(now).map(|before| now - before));
            }
            let (epoch, kind) =
                (first + sent, if (sent + 1) % CREDIT == 0 { Kind::StreamAnswered } else { Kind::Stream });
            self.send(1, Head { kind, epoch, content: content(epoch, 1) })?;
        }
        for rest in (credited..STREAM).step_by(CREDIT as usize) {
            self.credit(task, first, rest)?;
        }
        self.epoch = first + STREAM - 1;
        Ok(())
    }

    /// Until node 1 has taken [`CREDIT`] signals of the stream more than `before`.
    fn credit(&mut self, task: &Task, first: u64, before: u64) -> Result<(), Trouble> {
        loop {
            let (from, head, _) = self.next(task.share, || vec![1])?;
            if (from, head.kind, head.epoch) == (1, Kind::Credit, first + before + CREDIT - 1) {
                return Ok(());
            }
        }
    }

    fn letter(&mut self, task: &Task, bytes: usize, times: &mut Times) -> Result<(), Trouble> {
        let epoch = self.epoch;
        let head = Head { kind: Kind::Letter, epoch, content: content(epoch, 1) };
        let mut letter = vec![epoch as u8; bytes.max(HEAD)];
        letter[..HEAD].copy_from_slice(&head.bytes());
        let start = now_ns();
        self.wire.send(NodeId(1), &letter).map_err(|e| Trouble::Lost(1, e.to_string()))?;
        let answer = loop {
            let (from, head, answer) = self.next(task.share, || vec![1])?;
            if (from, head.kind, head.epoch) == (1, Kind::Reply, epoch) {
                break answer;
            }
        };
        times.whole.push(now_ns() - start);
        if answer.len() == letter.len() && answer[8..] == letter[8..] {
            Ok(())
        } else {
            Err(Trouble::Wrong(1))
        }
    }

    fn send(&mut self, to: usize, head: Head) -> Result<(), Trouble> {
        self.wire.send(NodeId(to as u32), &head.bytes()).map_err(|e| Trouble::Lost(to, e.to_string()))
    }

    fn send_all(&mut self, task: &Task, kind: Kind, content: impl Fn(usize) -> u64) -> Result<(), Trouble> {
        let epoch = self.epoch;
        (1..=task.peers).try_for_each(|peer| self.send(peer, Head { kind, epoch, content: content(peer) }))
    }

    /// Until each peer has answered this turn.
    fn answers(&mut self, task: &Task, awaited: Kind) -> Result<(), Trouble> {
        let (epoch, mut has_come, mut missing) = (self.epoch, vec![false; task.peers + 1], task.peers);
        while missing > 0 {
            let silent = || (1..=task.peers).filter(|peer| !has_come[*peer]).collect();
            let (from, head, _) = self.next(task.share, silent)?;
            if (head.kind, head.epoch) != (awaited, epoch) || from > task.peers || has_come[from] {
                continue; // late, or twice
            }
            if head.content != content(!epoch, from) {
                return Err(Trouble::Wrong(from));
            }
            has_come[from] = true;
            missing -= 1;
        }
        Ok(())
    }

    /// The next message of a measurement. `silent`: who is waited for.
    fn next(
        &mut self,
        share: bool,
        silent: impl Fn() -> Vec<usize>,
    ) -> Result<(usize, Head, Vec<u8>), Trouble> {
        let mut began = None;
        let mut looks = 0_u32;
        loop {
            match self.wire.poll() {
                Some(Event::Message { from, bytes }) => match Head::read(&bytes) {
                    Some(Head { kind: Kind::Wrong, .. }) | None => return Err(Trouble::Wrong(from.index())),
                    Some(head) => return Ok((from.index(), head, bytes)),
                },
                Some(Event::Lost { node, why }) => return Err(Trouble::Lost(node.index(), why)),
                Some(Event::Completed { .. }) => {}
                None => rest(share),
            }
            looks = looks.wrapping_add(1);
            // The clock is not asked at each look.
            if looks % 64 == 0 && began.get_or_insert_with(Instant::now).elapsed() > self.patience {
                return Err(Trouble::Silent(silent()));
            }
        }
    }
}

/// Between two looks.
pub fn rest(share: bool) {
    if share { std::thread::yield_now() } else { std::hint::spin_loop() }
}

#[cfg(test)]
mod tests {
    use super::super::responder::follow;
    use super::*;
    use evenkeel_fabric::SegmentWire;
    use evenkeel_fabric::segment_wire::bytes_needed;
    use evenkeel_segment::Segment;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn wires(nodes: usize) -> Vec<SegmentWire> {
        let segment = Arc::new(Segment::create(bytes_needed(nodes, 64).unwrap(), 1).unwrap());
        (0..nodes as u32)
            .map(|node| SegmentWire::new(Arc::clone(&segment), NodeId(node), nodes, 64).unwrap())
            .collect()
    }

    /// All peers but `deaf` answer.
    fn among<T>(nodes: usize, deaf: &[usize], lead: impl FnOnce(&mut Lead<SegmentWire>) -> T) -> T {
        let mut wires = wires(nodes);
        let mut first = Lead::new(wires.remove(0), Duration::from_millis(300));
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for mut wire in wires.into_iter().filter(|w| !deaf.contains(&w.node().index())) {
                let over = &over;
                scope.spawn(move || follow(&mut wire, || over.load(Ordering::Relaxed)));
            }
            let result = lead(&mut first);
            over.store(true, Ordering::Relaxed);
            result
        })
    }

    fn task(scenario: Scenario, peers: usize) -> Task {
        Task { scenario, peers, times: 5, warm_up: 2, enough_us: u64::MAX, share: true }
    }

    #[test]
    fn each_scenario_gives_a_time_for_each_turn_but_the_first() {
        among(4, &[], |lead| {
            for peers in [1, 3] {
                let times = lead.run(&task(Scenario::Exchange, peers)).unwrap();
                assert_eq!((times.whole.len(), times.posting.len()), (5, 5));
                assert!(times.whole.iter().zip(&times.posting).all(|(whole, posting)| whole > posting));
                let times = lead.run(&task(Scenario::Collect, peers)).unwrap();
                assert_eq!((times.whole.len(), times.posting.len()), (5, 0));
            }
            let samples = ((STREAM - UNDER_WAY) / CREDIT - 1) as usize;
            assert_eq!(lead.run(&task(Scenario::Stream, 1)).unwrap().whole.len(), 5 * samples);
            for bytes in [16, 100_000] {
                assert_eq!(lead.run(&task(Scenario::Letters { bytes }, 1)).unwrap().whole.len(), 5);
            }
            let short = Task { enough_us: 0, ..task(Scenario::Exchange, 1) };
            assert_eq!(lead.run(&short).unwrap().whole.len(), 2, "two, however long they take");
        });
    }

    #[test]
    fn who_does_not_answer_is_named() {
        let outcome = among(4, &[2], |lead| {
            lead.run(&task(Scenario::Exchange, 1)).unwrap();
            lead.run(&task(Scenario::Exchange, 3)).err()
        });
        assert_eq!(outcome, Some(Trouble::Silent(vec![2])));
    }

    #[test]
    fn what_comes_back_wrong_is_noticed() {
        let mut wires = wires(2);
        let mut peer = wires.pop().unwrap();
        let mut lead = Lead::new(wires.pop().unwrap(), PATIENCE);
        for (kind, epoch, content) in [
            (Kind::Ready, 1, content(!1, 1)),
            (Kind::Answer, 1, 7),
            (Kind::Answer, 2, content(!2, 1)),
            (Kind::Answer, 3, 5),
        ] {
            peer.send(NodeId(0), &Head { kind, epoch, content }.bytes()).unwrap();
        }
        // The second is late, and passed over; the fourth answers turn 3, but not what was asked.
        assert_eq!(lead.run(&task(Scenario::Exchange, 1)).err(), Some(Trouble::Wrong(1)));
        assert_eq!(lead.epoch, 3);
    }
}
