//! Which calls waited, for which other call, and until when.
//!
//! * **Late sender**: a call that takes a message waits from its entry to the entry of the call that sends
//!   it.
//! * **Late receiver**: a blocking send that is still under way when its receive is posted waits from its
//!   entry to the entry of the call that posts the receive.
//! * **Wait at a collective**: from its entry to that of the last member whose entry it needs.
//!
//! A wait is never longer than its call. What a call takes beyond its wait is its own time: transfer,
//! copying, the library. A call that waited for several others waited for the latest of them; `MPI_Waitany`
//! and `MPI_Waitsome` for the earliest.
//!
//! The trace does not tell which requests of sends and of collectives an `MPI_Wait` has completed. If the
//! receive of a message that its lane had sent without blocking was posted while it lasted, or the last
//! member came to a collective that it had started, and nothing else that it waited for came later, it is
//! said to have waited for that: these waits are *inferred*.

use crate::collectives::Instance;
use crate::functions::{Function, Needs};
use crate::run::{Place, Run};

/// Why a call waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its message was sent late.
    LateSender,
    /// The receive of its message was posted late.
    LateReceiver,
    /// A member came late to its collective.
    Collective,
}

/// A call that waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Which call of its lane.
    pub call: u32,
    /// The call for whose entry it waited.
    pub cause: Place,
    /// For how long, ns, as far as this number goes.
    waited: u32,
    /// Why.
    pub reason: Reason,
    /// The trace does not say so directly.
    pub is_inferred: bool,
}

impl Wait {
    /// How long the call waited, if it is the one with these times.
    pub fn length(&self, run: &Run, begin: i64, end: i64) -> i64 {
        // Causes are in other lanes: to look at each would miss the cache.
        if self.waited < u32::MAX { self.waited.into() } else { run.begin(self.cause).min(end) - begin }
    }
}

/// The waits of a run.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// By lane, in the order of calls.
    pub by_lane: Vec<Vec<Wait>>,
}

impl Waits {
    /// Finds all waits; `O(calls + messages)`, and a logarithm for those that are inferred.
    pub fn of(run: &Run) -> Waits {
        let last = LastMembers::of(run);
        Waits {
            by_lane: (0..run.lanes.len()).map(|lane| LaneWaits::new(run, lane as u32).find(&last)).collect(),
        }
    }

    /// The wait of a call.
    pub fn get(&self, place: Place) -> Option<&Wait> {
        let waits = &self.by_lane[place.lane as usize];
        waits.binary_search_by_key(&place.call, |wait| wait.call).ok().map(|at| &waits[at])
    }

    /// When a call's wait ended; its entry if it did not wait.
    pub fn until(&self, run: &Run, place: Place) -> i64 {
        let (begin, end) = (run.begin(place), run.end(place));
        self.get(place).map_or(begin, |wait| begin + wait.length(run, begin, end))
    }

    /// How long a call waited, ns.
    pub fn length(&self, run: &Run, place: Place) -> i64 {
        self.until(run, place) - run.begin(place)
    }

    /// The longest waits of calls that began in this interval, the longest first.
    pub fn longest(&self, run: &Run, from: i64, to: i64, most: usize) -> Vec<(i64, Place)> {
        let mut found: Vec<(i64, Place)> = Vec::new();
        let order = |it: &(i64, Place)| (std::cmp::Reverse(it.0), it.1);
        for (lane, waits) in self.by_lane.iter().enumerate() {
            let calls = &run.lanes[lane];
            let (first, last) = (calls.before(from) as u32, calls.before(to) as u32);
            let range = waits.partition_point(|w| w.call < first)..waits.partition_point(|w| w.call < last);
            for wait in &waits[range] {
                let place = Place { lane: lane as u32, call: wait.call };
                let (begin, end) = (run.begin(place), run.end(place));
                found.push((wait.length(run, begin, end), place));
            }
            if found.len() > 2 * most + 4096 {
                found.select_nth_unstable_by_key(most, order);
                found.truncate(most);
            }
        }
        found.sort_unstable_by_key(order);
        found.truncate(most);
        found
    }
}

/// By communicator and number of the collective: the call of the member that came last.
struct LastMembers(Vec<Vec<Option<Place>>>);

impl LastMembers {
    fn of(run: &Run) -> LastMembers {
        let comms = run.collectives.by_comm.len() as u32;
        let of_comm = |comm: u32| {
            let last = |nth: u32| {
                let calls = run.collectives.calls(Instance { comm, nth });
                calls.map(|(_, place)| place).max_by_key(|&place| (run.begin(place), place))
            };
            (0..run.collectives.count(comm)).map(last).collect()
        };
        LastMembers((0..comms).map(of_comm).collect())
    }

    fn get(&self, instance: Instance) -> Option<Place> {
        self.0[instance.comm as usize][instance.nth as usize]
    }
}

/// What a call may have waited for.
#[derive(Clone, Copy)]
struct Candidate {
    at: i64,
    cause: Place,
    reason: Reason,
    is_inferred: bool,
}

/// The waits of a lane.
struct LaneWaits<'a> {
    run: &'a Run,
    lane: u32,
    /// By call.
    best: Vec<Option<Candidate>>,
}

impl LaneWaits<'_> {
    fn new(run: &Run, lane: u32) -> LaneWaits<'_> {
        LaneWaits { run, lane, best: vec![None; run.lanes[lane as usize].calls()] }
    }

    fn find(mut self, last: &LastMembers) -> Vec<Wait> {
        self.taken_messages();
        self.sent_messages();
        self.collectives(last);
        let mut waits = Vec::with_capacity(self.best.iter().flatten().count());
        for (call, candidate) in self.best.iter().enumerate() {
            let (begin, end) =
                (self.run.begin(self.place(call as u32)), self.run.end(self.place(call as u32)));
            if let Some(found) = candidate.filter(|found| found.at > begin) {
                let Candidate { at, cause, reason, is_inferred } = found;
                let waited = u32::try_from(at.min(end) - begin).unwrap_or(u32::MAX);
                waits.push(Wait { call: call as u32, cause, waited, reason, is_inferred });
            }
        }
        waits
    }

    fn place(&self, call: u32) -> Place {
        Place { lane: self.lane, call }
    }

    fn calls(&self) -> u32 {
        self.best.len() as u32
    }

    /// Keeps the latest of what a call waited for; the earliest if it waited for any.
    fn offer(&mut self, call: u32, cause: Place, reason: Reason, is_inferred: bool) {
        let at = self.run.begin(cause);
        let takes_any = self.run.function(self.place(call)).waits_for_any;
        let known = &mut self.best[call as usize];
        if known.is_none_or(|known| if takes_any { at < known.at } else { at > known.at }) {
            *known = Some(Candidate { at, cause, reason, is_inferred });
        }
    }

    fn taken_messages(&mut self) {
        let run = self.run;
        let mut probes = self.probes();
        for message in run.messages.taken(self.lane, 0..self.calls()) {
            let call = message.taken.call;
            if !run.function(message.taken).is_poll {
                self.offer(call, message.sent, Reason::LateSender, false);
            }
            // A probe waits for the message that the next receive takes.
            while probes.last().is_some_and(|&probe| probe < message.posted) {
                let Some(probe) = probes.pop() else { break };
                if run.begin(message.sent) <= run.end(self.place(probe)) {
                    self.offer(probe, message.sent, Reason::LateSender, true);
                }
            }
        }
    }

    /// Calls of `MPI_Probe`, the last first.
    fn probes(&self) -> Vec<u32> {
        if !self.run.meanings.iter().any(|function| function.is_probe) {
            return Vec::new();
        }
        (0..self.calls()).rev().filter(|&call| self.run.function(self.place(call)).is_probe).collect()
    }

    fn sent_messages(&mut self) {
        let run = self.run;
        for message in run.messages.sent(self.lane, 0..self.calls()) {
            let Some(posted) = message.posted() else { continue };
            let (begin, at) = (run.begin(message.sent), run.begin(posted));
            let function = run.function(message.sent);
            if at <= begin || function.is_buffered {
                continue;
            }
            if at < run.end(message.sent) && !function.only_starts {
                self.offer(message.sent.call, posted, Reason::LateReceiver, false);
            } else if function.only_starts {
                self.infer(message.sent.call, posted, Reason::LateReceiver);
            }
        }
    }

    /// The call during which something happened that was started before, if that call waits for requests.
    fn infer(&mut self, started: u32, cause: Place, reason: Reason) {
        let lane = &self.run.lanes[self.lane as usize];
        let at = self.run.begin(cause);
        let Some(call) = lane.before(at).checked_sub(1).map(|call| call as u32) else { return };
        let is_wait = |function: &Function| function.is_wait && !function.waits_for_any;
        if call > started && at <= lane.end[call as usize] && is_wait(self.run.function(self.place(call))) {
            self.offer(call, cause, reason, true);
        }
    }

    fn collectives(&mut self, last: &LastMembers) {
        let run = self.run;
        let rank = run.rank(self.lane);
        for (comm, members) in run.collectives.by_comm.iter().enumerate() {
            let Ok(at) = members.binary_search_by_key(&rank, |member| member.rank) else { continue };
            for (nth, &place) in members[at].calls.iter().enumerate() {
                if place.lane == self.lane {
                    let instance = Instance { comm: comm as u32, nth: nth as u32 };
                    self.collective(instance, place, last);
                }
            }
        }
    }

    fn collective(&mut self, instance: Instance, place: Place, last: &LastMembers) {
        let run = self.run;
        let function = run.function(place);
        let root = run.world_rank(instance.comm, run.shape(place).first.peer);
        let rank = run.rank(self.lane);
        let late = match function.needs {
            Needs::NoRank => None,
            Needs::All => last.get(instance),
            Needs::AllAtRoot => last.get(instance).filter(|_| root == Some(rank)),
            Needs::Root => {
                run.collectives.calls(instance).find(|(rank, _)| Some(*rank) == root).map(|it| it.1)
            }
            Needs::Before => self.latest(instance, i64::MAX, |member| member <= rank),
        };
        let Some(mut late) = late else { return };
        if function.only_starts {
            return self.infer(place.call, late, Reason::Collective);
        }
        // A call that has returned before the last member came did not wait for it.
        if run.begin(late) > run.end(place) {
            let needed = |member: u32| match function.needs {
                Needs::Root => Some(member) == root,
                Needs::Before => member <= rank,
                _ => true,
            };
            match self.latest(instance, run.end(place), needed) {
                Some(found) => late = found,
                None => return,
            }
        }
        if late != place {
            self.offer(place.call, late, Reason::Collective, false);
        }
    }

    /// The member of those needed that came last, among those that came by then.
    fn latest(&self, instance: Instance, by: i64, needed: impl Fn(u32) -> bool) -> Option<Place> {
        let calls = self.run.collectives.calls(instance);
        let there = calls.filter(|&(rank, place)| needed(rank) && self.run.begin(place) <= by);
        there.map(|it| it.1).max_by_key(|&place| (self.run.begin(place), place))
    }
}
