//! One agent's run of a schedule: steps over three buffers of its own, and messages to other nodes.
//!
//! Every run has fresh buffers and flags, so nothing is used twice, and what a schedule does to make reuse
//! safe is skipped. A message may overtake others of the same flag; its turn tells them apart.

use crate::error::AgentError;
use crate::exchange::buffer::Buffer;
use crate::exchange::schedule::ExchangeSchedule;
use crate::message::StepMessage;
use bytes::Bytes;
use evenkeel_engine::collective::call::Combine;
use evenkeel_schedule::{Flag, Place, Rank, Round, Schedule, Step};
use std::collections::HashSet;
use std::sync::Arc;

/// A step for another node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingStep {
    /// The node, in the schedule's numbering.
    pub to: Rank,
    /// The step.
    pub step: StepMessage,
    /// Whether that node sends data in this run as well.
    pub receiver_sends: bool,
}

/// How elements are combined.
#[derive(Clone, Copy)]
pub struct Reduction {
    /// The operator.
    pub combine: Combine,
    /// Whether this node's own input is missing. Then the result is of the other nodes' inputs alone.
    pub input_is_missing: bool,
}

/// A schedule, as one agent carries it out.
pub struct ScheduleRun {
    schedule: Arc<ExchangeSchedule>,
    me: Rank,
    element_bytes: usize,
    reduction: Option<Reduction>,
    /// Input, output and scratch.
    buffers: [Buffer; 3],
    /// Whether each of them holds nothing yet.
    is_missing: [bool; 3],
    raised: HashSet<(Flag, u16)>,
    round: u32,
    steps: Round,
    /// The next of `steps`.
    next: usize,
}

fn index(buffer: evenkeel_schedule::Buffer) -> usize {
    match buffer {
        evenkeel_schedule::Buffer::Input => 0,
        evenkeel_schedule::Buffer::Output => 1,
        evenkeel_schedule::Buffer::Scratch => 2,
    }
}

impl ScheduleRun {
    /// `input` is what the schedule says that `me` has, in elements of `element_bytes`.
    pub fn new(
        schedule: Arc<ExchangeSchedule>,
        me: Rank,
        element_bytes: usize,
        reduction: Option<Reduction>,
        input: Vec<u8>,
    ) -> ScheduleRun {
        let Schedule { algorithm, problem, resources, .. } = &schedule.schedule;
        let collective = algorithm.collective;
        debug_assert_eq!(input.len() as u64, collective.input_elements(problem, me) * element_bytes as u64);
        let zeros = |elements: u64| Buffer::new(elements as usize * element_bytes);
        let output = zeros(collective.output_elements(problem, me));
        let buffers = [input.into(), output, zeros(resources.scratch)];
        let is_missing = [reduction.is_some_and(|reduction| reduction.input_is_missing), false, false];
        let mut steps = Round::new();
        schedule.schedule.round(me, 0, &mut steps);
        ScheduleRun {
            schedule,
            me,
            element_bytes,
            reduction,
            buffers,
            is_missing,
            raised: HashSet::new(),
            round: 0,
            steps,
            next: 0,
        }
    }

    /// Takes a message; one that comes twice changes nothing.
    ///
    /// # Errors
    /// If its data are beyond the buffer that they are for.
    pub fn receive(&mut self, step: StepMessage) -> Result<(), AgentError> {
        let StepMessage { flag, turn, place, data } = step;
        if !self.raised.insert((flag, turn)) || data.is_empty() {
            return Ok(());
        }
        let (bytes, buffer_bytes) = (data.len(), self.buffers[index(place.buffer())].bytes());
        if !self.write(place, data) {
            return Err(AgentError::MisplacedData { bytes, place, buffer_bytes });
        }
        Ok(())
    }

    /// Carries out steps as far as possible, and adds what is to be sent to `out`. True when the run is done.
    pub fn advance(&mut self, out: &mut Vec<OutgoingStep>) -> bool {
        loop {
            while let Some(step) = self.steps.steps.get(self.next).copied() {
                if !self.carry_out(step, out) {
                    return false;
                }
                self.next += 1;
            }
            if self.round >= self.schedule.schedule.rounds() {
                return true;
            }
            self.round += 1;
            self.next = 0;
            self.schedule.schedule.round(self.me, self.round, &mut self.steps);
        }
    }

    /// Carries out a step; false if it has to wait.
    fn carry_out(&mut self, step: Step, out: &mut Vec<OutgoingStep>) -> bool {
        match step {
            // Turn 0 is an earlier use of the same memory, and there was none.
            Step::Wait { flag, turn } => return turn == 0 || self.raised.contains(&(flag, turn)),
            Step::Put { to, flag, turn } if !self.schedule.is_waited_for(to, flag, turn) => {}
            Step::Put { to, flag, turn } => {
                out.push(self.outgoing(to, flag, turn, Place::input(0), Bytes::new()))
            }
            Step::Multicast { to, flag, turn } => {
                let others = to.iter().filter(|to| *to != self.me);
                out.extend(others.map(|to| self.outgoing(to, flag, turn, Place::input(0), Bytes::new())));
                if to.contains(self.me) {
                    self.raised.insert((flag, turn));
                }
            }
            Step::Send { to, flag, turn, from, at, length, .. } => {
                let data = self.read(from, length);
                out.push(self.outgoing(to, flag, turn, at, data));
            }
            Step::Copy { from, into, length } => {
                if self.is_missing(from) {
                    self.is_missing[index(into.buffer())] = true;
                } else {
                    let bytes = self.read(from, length);
                    self.write_own(into, bytes);
                }
            }
            Step::Combine { into, first, second, length } => self.combine(into, first, second, length),
            // They count earlier or later uses of the same memory.
            Step::Add { .. } | Step::AwaitCount { previous: true, .. } => {}
            Step::Share { .. } | Step::Count { .. } | Step::AwaitCount { .. } => {
                unreachable!("schedules between nodes send messages only")
            }
        }
        true
    }

    fn outgoing(&self, to: Rank, flag: Flag, turn: u16, place: Place, data: Bytes) -> OutgoingStep {
        let step = StepMessage { flag, turn, place, data };
        OutgoingStep { to, step, receiver_sends: self.schedule.sends(to) }
    }

    fn combine(&mut self, into: Place, first: Place, second: Place, length: u32) {
        if self.is_missing(first) || self.is_missing(second) {
            let present = if self.is_missing(first) { second } else { first };
            let bytes = self.read(present, length);
            return self.write_own(into, bytes);
        }
        let reduction = self.reduction.expect("a schedule that combines is of a reduction");
        let mut result = self.read(second, length).to_vec();
        let input = self.read(first, length);
        // SAFETY: both have `length` elements, and do not overlap.
        unsafe {
            (reduction.combine)(
                std::ptr::null_mut(),
                input.as_ptr().cast(),
                result.as_mut_ptr().cast(),
                length as usize,
            )
        };
        self.write_own(into, result.into());
    }

    fn is_missing(&self, place: Place) -> bool {
        self.is_missing[index(place.buffer())]
    }

    fn read(&mut self, place: Place, elements: u32) -> Bytes {
        let start = place.element() as usize * self.element_bytes;
        self.buffers[index(place.buffer())].share(start..start + elements as usize * self.element_bytes)
    }

    /// False, and nothing is written, if the bytes do not fit there.
    fn write(&mut self, place: Place, bytes: Bytes) -> bool {
        let buffer = index(place.buffer());
        let fits = self.buffers[buffer].put(place.element() as usize * self.element_bytes, bytes);
        self.is_missing[buffer] &= !fits;
        fits
    }

    fn write_own(&mut self, place: Place, bytes: Bytes) {
        let fits = self.write(place, bytes);
        assert!(fits, "a step at {place:?} is beyond its buffer, which the schedule's check excludes");
    }

    /// The result.
    pub fn into_output(self) -> Bytes {
        let [_, output, _] = self.buffers;
        output.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::schedule::ScheduleKey;
    use evenkeel_spanning::CollectiveKind;

    #[test]
    fn data_beyond_the_buffer_are_refused() {
        let key = ScheduleKey { kind: CollectiveKind::Bcast, root: 0, elements: 4, element_bytes: 1 };
        let schedule = Arc::new(ExchangeSchedule::new(key, 2, true));
        let mut run = ScheduleRun::new(schedule, Rank(1), 1, None, Vec::new());
        let data = Bytes::from_static(&[1, 2, 3]);
        let step = StepMessage { flag: Flag(0), turn: 1, place: Place::output(2), data };
        let error = run.receive(step).unwrap_err();
        assert!(matches!(error, AgentError::MisplacedData { bytes: 3, buffer_bytes: 4, .. }), "{error}");
    }
}
