//! The primitives on a wire. A node has one domain, which is used by one thread.

use crate::machine::{Machine, Outgoing};
use crate::message::Message;
use crate::node_set::NodeSet;
use crate::operation::{Comparison, EventId, Operation, OperationNumber};
use crate::outcome::{CallError, OperationError, Outcome};
use crate::settings::Settings;
use evenkeel_fabric::{Event, NodeId, Wire, WordWrite};
use std::collections::HashMap;
use std::time::Duration;

/// How long a call that waits sleeps at most before it looks again.
const MAX_SLEEP: Duration = Duration::from_millis(10);

/// One node's access to the primitives. Nothing happens at a node except within calls of its domain; a
/// node that has nothing to call calls [`Domain::progress`] or [`Domain::serve`].
pub struct Domain<W: Wire, C: Fn() -> Duration> {
    wire: W,
    machine: Machine,
    clock: C,
    /// Local events of transfers under way.
    local_events: HashMap<OperationNumber, EventId>,
    /// Errors of transfers, by their local event, until that event is tested.
    errors: HashMap<EventId, Vec<OperationError>>,
}

impl<W: Wire, C: Fn() -> Duration> Domain<W, C> {
    /// `clock` tells the time since some moment in the past; it never goes back. Settings must be the same at
    /// all nodes.
    pub fn new(wire: W, settings: Settings, clock: C) -> Domain<W, C> {
        let machine = Machine::new(wire.node(), wire.nodes(), settings);
        Domain { wire, machine, clock, local_events: HashMap::new(), errors: HashMap::new() }
    }

    /// Which node this is.
    pub fn node(&self) -> NodeId {
        self.wire.node()
    }

    /// Bytes of global memory at each node.
    pub fn memory_bytes(&self) -> usize {
        self.wire.memory().len()
    }

    /// Writes `bytes` at `at` of every node of the set, and signals `remote` there. Does not wait, and
    /// copies the bytes before it returns. When the transfer has been carried out, `local` is signalled
    /// here; if a node fails, [`Domain::test_event`] of `local` returns the error.
    pub fn xfer_and_signal(
        &mut self,
        set: &NodeSet,
        at: usize,
        bytes: &[u8],
        local: Option<EventId>,
        remote: Option<EventId>,
    ) -> Result<(), CallError> {
        let number = self.start(set, Operation::Xfer { at, bytes: bytes.to_vec(), event: remote })?;
        if let Some(event) = local {
            self.local_events.insert(number, event);
        }
        self.signal_local_events();
        Ok(())
    }

    /// Takes one signal of an event of this node. False: there is none yet. An error: the transfer that
    /// should have signalled it failed. Each error is returned once.
    pub fn test_event(&mut self, event: EventId) -> Result<bool, OperationError> {
        self.progress();
        match self.errors.get_mut(&event).and_then(Vec::pop) {
            Some(error) => Err(error),
            None => Ok(self.machine.take_signal(event)),
        }
    }

    /// The same, but sleeps until there is a signal, at most for `longest`.
    pub fn wait_event(&mut self, event: EventId, longest: Duration) -> Result<bool, OperationError> {
        let end = (self.clock)() + longest;
        loop {
            let result = self.test_event(event);
            if result != Ok(false) || (self.clock)() >= end {
                return result;
            }
            self.sleep(end);
        }
    }

    /// Compares the word at `variable` of every node of the set with `value`; if the comparison holds on
    /// all, writes `write` on all. Waits. True: it held, and the write is done on all nodes. An error
    /// names the node that failed; it comes some limits after the failure at the latest.
    pub fn compare_and_write(
        &mut self,
        set: &NodeSet,
        variable: usize,
        comparison: Comparison,
        value: u64,
        write: Option<WordWrite>,
    ) -> Result<Outcome, CallError> {
        let number = self.start(set, Operation::Compare { variable, comparison, value, write })?;
        loop {
            if let Some(outcome) = self.machine.take_outcome(number) {
                return Ok(outcome);
            }
            self.sleep((self.clock)() + MAX_SLEEP);
            self.advance();
        }
    }

    /// This node's own bytes, as all operations that have returned have left them. While an operation in
    /// doubt may change them, waits, at most for `longest`. None: one still may.
    pub fn read(&mut self, at: usize, length: usize, longest: Duration) -> Option<Vec<u8>> {
        let end = (self.clock)() + longest;
        loop {
            self.progress();
            if self.machine.is_readable(&(at..at + length)) {
                return Some(self.wire.memory().bytes(at, length));
            }
            if (self.clock)() >= end {
                return None;
            }
            self.sleep(end);
        }
    }

    /// Sets a word of this node's own memory: a flag for others to compare. Only for words that no operation
    /// writes.
    pub fn set(&mut self, at: usize, value: u64) {
        self.wire.memory().store(at, value);
    }

    /// Declares a node dead: nothing waits for it any more, and its messages are ignored. To be done at all
    /// nodes.
    pub fn evict(&mut self, node: NodeId) {
        self.machine.evict(node);
    }

    /// Takes messages that have come, and sends what is due. Does not wait.
    pub fn progress(&mut self) {
        self.advance();
        self.signal_local_events();
    }

    /// Sleeps until a message may have come, at most for `longest`, and then makes progress.
    pub fn serve(&mut self, longest: Duration) {
        self.sleep((self.clock)() + longest);
        self.progress();
    }

    fn start(&mut self, set: &NodeSet, operation: Operation) -> Result<OperationNumber, CallError> {
        self.progress();
        let (number, out) = self.machine.start((self.clock)(), self.wire.memory(), set.clone(), operation)?;
        self.send(out);
        Ok(number)
    }

    /// As `progress`, but leaves outcomes to a caller that waits for one.
    fn advance(&mut self) {
        while let Some(event) = self.wire.poll() {
            // If the network has given a node up, its silence will tell. Puts and atomic operations are
            // not used here.
            let Event::Message { from, bytes } = event else { continue };
            if let Some(message) = Message::decode(&bytes) {
                let out = self.machine.receive((self.clock)(), self.wire.memory(), from, message);
                self.send(out);
            }
        }
        let now = (self.clock)();
        if self.machine.next_due().is_some_and(|due| due <= now) {
            let out = self.machine.tick(now, self.wire.memory());
            self.send(out);
        }
    }

    /// Signals the local events of transfers that have an outcome.
    fn signal_local_events(&mut self) {
        for (number, outcome) in self.machine.take_outcomes() {
            if let Some(event) = self.local_events.remove(&number) {
                match outcome {
                    Ok(_) => self.machine.signal(event),
                    Err(error) => self.errors.entry(event).or_default().push(error),
                }
            }
        }
    }

    fn send(&mut self, out: Outgoing) {
        for (to, message) in out {
            // For a node that the network has given up this fails, as if the message were lost.
            drop(self.wire.send(to, &message.encode()));
        }
    }

    fn sleep(&mut self, until: Duration) {
        let now = (self.clock)();
        let until = self.machine.next_due().map_or(until, |due| due.min(until));
        self.wire.wait(until.saturating_sub(now));
    }
}
