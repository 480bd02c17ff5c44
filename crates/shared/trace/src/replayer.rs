//! A repetition: hands choices out in the order in which they were recorded.

use crate::choice::Choice;
use crate::digest::Digest;
use crate::divergence::Divergence;
use crate::format::{Ending, LibraryClock, LibrarySource};
use crate::recorder::Posted;
use crate::trace::{Drawn, Outcome, Resolution, Trace};

/// The answer to a question of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing is there.
    Missed,
    /// Something is; the values are those of [`Choice::values`].
    Found(Vec<i64>),
}

/// Hands out the choices of one rank.
#[derive(Debug)]
pub struct Replayer {
    trace: Trace,
    /// `MPI_Init` has been called.
    is_initialized: bool,
    /// Which bytes of each source come next, before `MPI_Init` and from then on.
    next_bytes: [[usize; LibrarySource::COUNT]; 2],
    posted: u64,
    misses: u64,
    calls: u64,
    sent: Digest,
    received: Digest,
}

impl Replayer {
    /// Begins a repetition.
    pub fn new(trace: Trace) -> Self {
        Replayer {
            trace,
            is_initialized: false,
            next_bytes: [[0; LibrarySource::COUNT]; 2],
            posted: 0,
            misses: 0,
            calls: 0,
            sent: Digest::default(),
            received: Digest::default(),
        }
    }

    /// The trace; what has been handed out is gone.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The calls that are over.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Says that a call begins.
    ///
    /// # Errors
    /// The recorded run did not come past this call.
    pub fn call_begins(&self, name: &'static str, asks: bool) -> Result<(), Divergence> {
        let is_past = self.trace.live.ending != Ending::Finalized && self.calls >= self.trace.live.calls;
        if is_past && !(asks && self.misses_left() > 0) {
            return Err(self.end_of_trace(name));
        }
        Ok(())
    }

    /// Failed tests and probes before the next outcome, or before the end.
    fn misses_left(&self) -> u64 {
        let next = self.trace.outcomes.front();
        next.map_or(self.trace.misses_at_the_end, |outcome| outcome.misses_before).saturating_sub(self.misses)
    }

    /// The sentence for a call that the recorded run did not finish.
    pub fn end_of_trace(&self, found: &'static str) -> Divergence {
        let why = match self.trace.live.ending {
            Ending::NoRoom => "there was no more room for the trace",
            _ => "it was killed or ended there, or was still running when the trace was copied",
        };
        Divergence::EndOfTrace { call: self.calls + 1, found, why }
    }

    /// Counts a receive that is posted; says what became of it.
    pub fn post(&mut self) -> (Posted, Option<Resolution>) {
        let number = self.posted;
        self.posted += 1;
        (Posted(number), self.trace.receives.get(&number).copied())
    }

    /// Answers a question: what this function found.
    ///
    /// # Errors
    /// Another function asked then, or none.
    pub fn ask(&mut self, choice: Choice, may_miss: bool) -> Result<Answer, Divergence> {
        if may_miss && self.misses_left() > 0 {
            self.misses += 1;
            return Ok(Answer::Missed);
        }
        let call = self.calls + 1;
        let found = choice.name();
        match self.trace.outcomes.front() {
            Some(next) if next.choice == choice && self.misses_left() == 0 => {
                let Outcome { values, .. } = self.trace.outcomes.pop_front().expect("there is one");
                self.misses = 0;
                Ok(Answer::Found(values))
            }
            Some(next) => {
                let recorded = next.choice.name();
                Err(Divergence::OtherCall { call, found, recorded, misses: self.misses_left() })
            }
            None if self.trace.live.ending == Ending::Finalized => Err(Divergence::MoreCalls { call, found }),
            None => Err(self.end_of_trace(found)),
        }
    }

    /// What `MPI_Wtime` showed, in bits.
    ///
    /// # Errors
    /// It was not read as often.
    pub fn clock(&mut self) -> Result<u64, Divergence> {
        match self.trace.clocks.pop_front() {
            Some(bits) => Ok(bits),
            None if self.trace.live.ending == Ending::Finalized => {
                Err(Divergence::MoreClocks { calls: self.calls })
            }
            None => Err(self.end_of_trace("MPI_Wtime")),
        }
    }

    /// Says that `MPI_Init` is called.
    pub fn init(&mut self) {
        self.is_initialized = true;
    }

    fn drawn(&mut self) -> &mut Drawn {
        if self.is_initialized { &mut self.trace.drawn } else { &mut self.trace.drawn_before }
    }

    /// What a clock of the C library showed; `None` if it was not read as often.
    pub fn library_clock(&mut self, clock: LibraryClock) -> Option<i64> {
        self.drawn().clocks[clock.number()].pop_front()
    }

    /// Replaces other bytes by those that the C library gave. Returns false if the recorded run did not ask
    /// for so many then. As for clocks, nothing is allocated or freed: an allocator may ask.
    pub fn library_bytes(&mut self, source: LibrarySource, given: &mut [u8]) -> bool {
        let next = &mut self.next_bytes[usize::from(self.is_initialized)][source.number()];
        let drawn = if self.is_initialized { &self.trace.drawn } else { &self.trace.drawn_before };
        match drawn.bytes[source.number()].get(*next) {
            Some(recorded) if recorded.len() == given.len() => {
                given.copy_from_slice(recorded);
                *next += 1;
                true
            }
            _ => false,
        }
    }

    /// Takes in what is sent.
    pub fn sent(&mut self, peer: i32, tag: i32, bytes: u64, data: &[u8]) {
        self.sent.add(peer, tag, bytes, data);
    }

    /// Takes in what was received.
    pub fn received(&mut self, peer: i32, tag: i32, bytes: u64, data: &[u8]) {
        self.received.add(peer, tag, bytes, data);
    }

    /// Counts a call that is over, and compares the hashes where the trace has them.
    ///
    /// # Errors
    /// They differ.
    pub fn call_over(&mut self) -> Result<(), Divergence> {
        self.calls += 1;
        let interval = u64::from(self.trace.start.interval);
        if self.calls % interval != 0 {
            return Ok(());
        }
        match self.trace.checks.pop_front() {
            Some(check) => self.compare(self.calls + 1 - interval, check.sent, check.received),
            None => Ok(()),
        }
    }

    fn compare(&self, from: u64, sent: u32, received: u32) -> Result<(), Divergence> {
        let other = |found: u32, recorded: u32| (found != recorded).then_some([found, recorded]);
        let sent = other(self.sent.short(), sent);
        let received = other(self.received.short(), received);
        if sent.is_none() && received.is_none() {
            return Ok(());
        }
        Err(Divergence::OtherData { from, to: self.calls, sent, received })
    }

    /// Compares all that is left, in `MPI_Finalize`.
    ///
    /// # Errors
    /// The recorded run did more, or something else.
    pub fn finish(&self) -> Result<(), Divergence> {
        let live = &self.trace.live;
        if live.ending != Ending::Finalized {
            return Ok(()); // the recorded run did not come so far
        }
        let outcomes = self.trace.outcomes.len();
        if self.calls != live.calls || outcomes > 0 {
            return Err(Divergence::FewerCalls { found: self.calls, recorded: live.calls, outcomes });
        }
        let from = self.calls - self.calls % u64::from(self.trace.start.interval) + 1;
        self.compare(from.min(self.calls), live.sent.short(), live.received.short())
    }
}
