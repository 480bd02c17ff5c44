//! One numbering of a communicator's collectives on this node: taken from the docket in order, finished
//! in any.

use crate::communicator::collective::{Early, Running};
use crate::communicator::forwarding::{Passing, agree};
use crate::communicator::global_minimum::{Told, Watermark};
use crate::communicator::run_ahead::Progress;
use crate::exchange::run::Sent;
use crate::exchange::schedule::Plans;
use crate::position::Position;
use evenkeel_engine::across::agent_member::Seat;
use evenkeel_spanning::PieceDescription as Description;
use std::collections::{HashMap, VecDeque};

pub struct Lane {
    pub seat: Seat,
    /// Taken from the docket, and without all its turns yet.
    claiming: Option<Running>,
    running: VecDeque<Running>,
    /// Messages of collectives that nobody here has called yet, by number. There are no more of these than
    /// others may run ahead.
    early: HashMap<u64, Vec<Early>>,
    /// Of the same, those that this node passes on.
    passing: Passing,
    plans: Plans,
    progress: Progress,
}

impl Lane {
    /// `taken`: this node's part in finding out how far all are.
    pub fn new(seat: Seat, taken: Watermark) -> Lane {
        Lane {
            seat,
            progress: Progress::new(taken),
            claiming: None,
            running: VecDeque::new(),
            early: HashMap::new(),
            passing: Passing::default(),
            plans: Plans::default(),
        }
    }

    /// Moves everything on; whether anything happened. `send` gets each message with the number and
    /// description of its collective, `tell` how far this node is.
    pub fn advance(
        &mut self,
        position: &Position,
        mut send: impl FnMut(u64, Description, Sent<'_>),
        tell: impl FnMut(Told),
    ) -> Result<bool, String> {
        let mut moved = self.take_up(position)?;
        self.progress.tell(tell);
        for running in &mut self.running {
            let (number, description) = (running.number, running.description);
            moved |= running
                .advance(&self.seat, position, &mut self.plans, |sent| send(number, description, sent))?;
        }
        // Others need not wait for room here, nor for these ranks' call.
        if let Some(running) = &mut self.claiming {
            let (number, description) = (running.number, running.description);
            moved |= running.exchange(position, &mut self.plans, |sent| send(number, description, sent))?;
        }
        moved |= self.passing.advance(position, &mut self.plans, send)?;
        while self.running.front().is_some_and(Running::is_done) {
            self.running.pop_front();
        }
        Ok(moved)
    }

    fn take_up(&mut self, position: &Position) -> Result<bool, String> {
        let mut moved = false;
        loop {
            let mut running = match self.claiming.take() {
                Some(running) => running,
                None if self.progress.is_ahead() => return Ok(moved),
                None => match self.seat.next_on_docket() {
                    None => return Ok(moved),
                    Some(Err(words)) => {
                        return Err(format!("the ranks here have called what is no collective ({words:x?})"));
                    }
                    Some(Ok(description)) => {
                        let number = self.progress.next();
                        let begun = self.passing.take(number, description)?;
                        begun.unwrap_or_else(|| {
                            Running::new(number, description, self.early.remove(&number).unwrap_or_default())
                        })
                    }
                },
            };
            if !running.claim(&self.seat, position) {
                self.claiming = Some(running);
                return Ok(moved);
            }
            self.running.push_back(running);
            self.progress.take_up();
            self.seat.taken_up();
            moved = true;
        }
    }

    /// Another node, by its position, says how far it is.
    pub fn hear(&mut self, from: usize, told: Told, tell: impl FnMut(Told)) {
        self.progress.hear(from, told, tell);
    }

    /// Takes a message of another node in, with what it says of its collective.
    pub fn take_in(
        &mut self,
        number: u64,
        described: Option<Description>,
        (slot, turn, at, data): Early,
        position: &Position,
    ) -> Result<(), String> {
        let under_way =
            self.claiming.iter_mut().chain(&mut self.running).find(|running| running.number == number);
        match (&under_way, described) {
            (Some(running), Some(description)) => agree(number, running.description, description)?,
            (None, Some(description)) if number >= self.progress.next() => {
                self.passing.begin(number, description, &mut self.early, position)?
            }
            _ => {}
        }
        match under_way.or_else(|| self.passing.get_mut(number)) {
            Some(running) => running.take_in(slot, turn, at, data),
            None => {
                if number >= self.progress.next() {
                    self.early.entry(number).or_default().push((slot, turn, at, data));
                }
                Ok(())
            }
        }
    }

    fn is_held_up(&self) -> bool {
        self.progress.is_ahead() && self.seat.next_on_docket().is_some()
    }

    /// Whether there is nothing to do: what ranks here have called last may still be on the docket, and
    /// others may need it when these ranks do not.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.claiming.is_none() && self.seat.next_on_docket().is_none()
    }

    pub fn waits_for_others(&self, position: &Position) -> bool {
        self.is_held_up() || self.running.iter().any(|running| running.waits_for_others(position))
    }
}
