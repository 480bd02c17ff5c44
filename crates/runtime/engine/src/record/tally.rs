//! Cheap counters, from which the report is made.
//!
//! Every wait is timed. The duration of calls and the times of arrival are taken from the first few
//! instances and from one in sixty-four, then scaled. A hash of the instance's number selects them, so all
//! ranks sample the same instances. They are selected in pairs of consecutive ones, because how late a rank
//! came follows from two of them.

use super::peers::Peers;
use evenkeel_record::{Histogram, OpRecord};
use evenkeel_schedule::deposits::Sources;
use evenkeel_spanning::CollectiveKind as Kind;

/// Returns whether instance `seq` is timed in full.
#[inline(always)]
pub fn is_sampled(seq: u64) -> bool {
    seq < 16 || (seq >> 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58 == 0
}

/// A wait that is shorter is attributed to no rank: so long a call takes by itself.
pub const SHORTEST_WAIT_NS: u64 = 1_000;

/// Counters of one operation on one communicator.
#[derive(Clone)]
pub struct Tally {
    /// Calls that evenkeel carried out.
    pub calls: u64,
    /// Calls that were declined, so that the host library carried them out.
    pub host_calls: u64,
    /// Payload bytes.
    pub bytes: u64,
    /// Time spent waiting inside calls.
    pub wait_ns: u64,
    /// How many times this rank was the last to arrive at an instance.
    pub last: u64,
    /// In sampled calls: time that was not spent waiting.
    pub busy_ns: u64,
    /// How many calls were timed in full.
    pub samples: u64,
    /// In sampled instances at which this rank came last: how long the first rank had waited.
    pub late_ns: u64,
    /// How many sampled instances this rank was the last to arrive at.
    pub last_sampled: u64,
    /// How many barriers were left pending.
    pub deferred: u64,
    /// The largest number of barriers that were pending at once, or of deposits in the backlog.
    pub ahead: u64,
    /// How long the program computed while barriers were pending for which a strict barrier would have
    /// waited.
    pub overlapped_ns: u64,
    /// The ranks that this one waited for.
    pub waited_for: Peers,
    /// The part of `waited_for` at the completion of deferred barriers.
    pub completed_for: Peers,
    /// The ranks that came last at deferred barriers, as this rank has taken it from the board.
    pub came_last: Peers,
    /// Histogram of the durations of sampled calls.
    pub latency: [u32; Histogram::BUCKETS],
}

impl Tally {
    /// For a communicator of so many members; 0 if waits are not attributed to members.
    pub fn new(members: usize) -> Self {
        Tally {
            calls: 0,
            host_calls: 0,
            bytes: 0,
            wait_ns: 0,
            last: 0,
            busy_ns: 0,
            samples: 0,
            late_ns: 0,
            last_sampled: 0,
            deferred: 0,
            ahead: 0,
            overlapped_ns: 0,
            waited_for: Peers::new(members),
            completed_for: Peers::new(members),
            came_last: Peers::new(members),
            latency: [0; Histogram::BUCKETS],
        }
    }

    /// Counts a wait, and the member that was waited for if that is known.
    pub fn count_wait(&mut self, ns: u64, awaited: Option<usize>) {
        self.wait_ns += ns;
        if let Some(member) = awaited {
            self.waited_for.add(member, ns);
        }
    }

    /// Counts a call that was timed: its duration, and the part of it that was spent waiting.
    pub fn sample(&mut self, ns: u64, waited_ns: u64) {
        self.samples += 1;
        self.busy_ns += ns.saturating_sub(waited_ns);
        self.latency[Histogram::bucket(ns)] += 1;
    }

    /// The counters in the form that the report needs.
    pub fn record(&self, kind: Kind, nonblocking: bool) -> OpRecord {
        let scaled = |sum: u64, of: u64, total: u64| (sum as u128 * total as u128 / of.max(1) as u128) as u64;
        let used = self.latency.iter().rposition(|&n| n > 0).map_or(0, |i| i + 1);
        OpRecord {
            op: format!("{}{}", if nonblocking { "i" } else { "" }, kind.name()),
            calls: self.calls,
            host_calls: self.host_calls,
            bytes: self.bytes,
            // All waits are measured; the rest of the calls' time is scaled up from the sampled ones.
            time_ns: self.wait_ns + scaled(self.busy_ns, self.samples, self.calls),
            wait_ns: self.wait_ns,
            last: self.last,
            late_ns: scaled(self.late_ns, self.last_sampled, self.last),
            samples: self.samples,
            deferred: self.deferred,
            ahead: self.ahead,
            overlapped_ns: self.overlapped_ns,
            waited_for: self.waited_for.record(),
            completed_for: self.completed_for.record(),
            came_last: self.came_last.record(),
            latency: Histogram { counts: self.latency[..used].iter().map(|&n| n as u64).collect() },
        }
    }
}

/// Counters of all operations of one communicator.
pub struct Tallies {
    members: usize,
    slots: [Option<Box<Tally>>; 2 * Kind::COUNT],
}

impl Tallies {
    /// For a communicator of so many members; 0 if waits are not attributed to members.
    pub fn new(members: usize) -> Self {
        Tallies { members, slots: std::array::from_fn(|_| None) }
    }

    /// The counters of one kind of call; its nonblocking form is counted separately.
    #[inline]
    pub fn of(&mut self, kind: Kind, nonblocking: bool) -> &mut Tally {
        self.slots[kind as usize + if nonblocking { Kind::COUNT } else { 0 }]
            .get_or_insert_with(|| Box::new(Tally::new(self.members)))
    }

    /// How many blocking calls there were of collectives that all ranks leave together.
    pub fn left_together(&self) -> u64 {
        let needs_all = |kind: Kind, rank| kind.participation(2, 0, rank).needs == Sources::AllOthers;
        let blocking = self.slots[..Kind::COUNT].iter().zip(Kind::ALL);
        let is_together = |kind: Kind| kind != Kind::Barrier && (0..2).all(|rank| needs_all(kind, rank));
        let together = blocking.filter(|(_, kind)| is_together(*kind));
        together.filter_map(|(tally, _)| tally.as_ref()).map(|tally| tally.calls).sum()
    }

    /// How many blocking calls there were of collectives other than barriers, those of the host library
    /// included.
    pub fn blocking_calls(&self) -> u64 {
        let blocking = self.slots[..Kind::COUNT].iter().zip(Kind::ALL);
        let others =
            blocking.filter(|(_, kind)| *kind != Kind::Barrier).filter_map(|(tally, _)| tally.as_ref());
        others.map(|tally| tally.calls + tally.host_calls).sum()
    }

    /// The counters of all kinds that have been called.
    pub fn records(&self) -> Vec<OpRecord> {
        let used = self.slots.iter().enumerate().filter_map(|(i, t)| Some((i, t.as_ref()?)));
        used.map(|(i, t)| t.record(Kind::ALL[i % Kind::COUNT], i >= Kind::COUNT)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_sixty_four_is_sampled() {
        let n = (16..640_016).filter(|&s| is_sampled(s)).count();
        assert!((9_000..11_000).contains(&n), "{n}");
    }
}
