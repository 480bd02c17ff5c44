//! The course of a simulation: the steps of a cycle, and cycles until an end.

use super::contents::{CHECK_CYCLES, Simulator};
use super::error::SimulationError;
use super::workload::Workload;
use crate::routing::Routing;

impl<R: Routing> Simulator<R> {
    /// Runs until a cycle.
    ///
    /// # Errors
    /// Packets are deadlocked, or the simulator has a bug.
    pub fn run(&mut self, until: u64, workload: &mut impl Workload) -> Result<(), SimulationError> {
        while self.now < until {
            self.cycle(workload);
            if self.now >= self.next_check {
                self.next_check = self.now + CHECK_CYCLES;
                self.check_conservation()?;
                self.check_deadlock()?;
            }
            let is_idle = self.movable.is_empty() && self.to_arbitrate.is_empty() && self.in_flight == 0;
            self.now =
                if is_idle { self.next_event(workload).clamp(self.now + 1, until) } else { self.now + 1 };
        }
        Ok(self.check_conservation()?)
    }

    /// Runs until everything has been delivered and the workload has nothing more to send, at most until
    /// `limit`. Returns false if the limit came first.
    ///
    /// # Errors
    /// Packets are deadlocked, or the simulator has a bug.
    pub fn finish(&mut self, limit: u64, workload: &mut impl Workload) -> Result<bool, SimulationError> {
        loop {
            self.run((self.now + 1000).min(limit), workload)?;
            if self.packets.count() == 0 && workload.next_time() == u64::MAX {
                return Ok(true);
            }
            if self.now >= limit {
                self.check_deadlock()?;
                return Ok(false);
            }
        }
    }

    /// When something happens next in an idle network.
    fn next_event(&self, workload: &impl Workload) -> u64 {
        self.heads_in_routing.front().map_or(u64::MAX, |h| h.0).min(workload.next_time())
    }

    fn cycle(&mut self, workload: &mut impl Workload) {
        let mut new_packets = std::mem::take(&mut self.scratch.new_packets);
        let slot = (self.now % self.calendar.len() as u64) as usize;
        let mut arrivals = std::mem::take(&mut self.calendar[slot]);
        self.in_flight -= arrivals.len() as u64;
        for arrival in arrivals.drain(..) {
            self.arrive(arrival, workload, &mut new_packets);
        }
        self.calendar[slot] = arrivals;
        if workload.next_time() <= self.now {
            workload.generate(self.now, &mut new_packets);
        }
        for packet in new_packets.drain(..) {
            self.enqueue(packet);
        }
        self.scratch.new_packets = new_packets;
        self.finish_routing();
        if !self.to_arbitrate.is_empty() {
            self.arbitrate();
        }
        self.move_phits();
    }
}
