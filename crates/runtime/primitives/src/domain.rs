//! The primitives on a wire: one per node, used by one thread.

use crate::context::Settings;
use crate::machine::{Machine, Mistake, Number};
use crate::message::Message;
use crate::operation::{Comparison, EventId, Fault, NodeSet, Operation, Outcome};
use evenkeel_fabric::{Event, NodeId, Wire};
use std::collections::HashMap;
use std::time::Duration;

/// How long a call that waits sleeps at most before it looks again.
const NAP: Duration = Duration::from_millis(10);

/// One node's access to the primitives. Nothing goes on at a node but in calls of its domain: one that
/// has nothing to call calls [`Domain::progress`].
pub struct Domain<W: Wire, C: Fn() -> Duration> {
    wire: W,
    machine: Machine,
    clock: C,
    /// Local events of transfers under way.
    local: HashMap<Number, EventId>,
    /// Faults of transfers, by their local event, until somebody tests that.
    faults: HashMap<EventId, Vec<Fault>>,
}

impl<W: Wire, C: Fn() -> Duration> Domain<W, C> {
    /// `clock` tells the time since some moment in the past; it never goes back. Settings are the same at
    /// all nodes.
    pub fn new(wire: W, settings: Settings, clock: C) -> Domain<W, C> {
        let machine = Machine::new(wire.node(), wire.nodes(), settings);
        Domain { wire, machine, clock, local: HashMap::new(), faults: HashMap::new() }
    }

    pub fn node(&self) -> NodeId {
        self.wire.node()
    }

    /// Bytes of global memory, at each node.
    pub fn memory_bytes(&self) -> usize {
        self.wire.memory().len()
    }

    /// Writes `bytes` at `at` of every node of the set, and signals `remote` there. Does not wait: when it
    /// has been carried out, `local` is signalled here; when a node has failed, [`Domain::test_event`] of
    /// `local` says so. The bytes are taken at once.
    pub fn xfer_and_signal(
        &mut self,
        set: &NodeSet,
        at: usize,
        bytes: &[u8],
        local: Option<EventId>,
        remote: Option<EventId>,
    ) -> Result<(), Mistake> {
        let number = self.start(set, Operation::Xfer { at, bytes: bytes.to_vec(), event: remote })?;
        if let Some(event) = local {
            self.local.insert(number, event);
        }
        self.collect();
        Ok(())
    }

    /// Takes one signal of an event of this node. False: there is none yet. An error: the transfer that
    /// should have signalled it failed; it is reported once.
    pub fn test_event(&mut self, event: EventId) -> Result<bool, Fault> {
        self.progress();
        match self.faults.get_mut(&event).and_then(Vec::pop) {
            Some(fault) => Err(fault),
            None => Ok(self.machine.take_signal(event)),
        }
    }

    /// The same, but sleeps until there is a signal, and so long at most.
    pub fn wait_event(&mut self, event: EventId, longest: Duration) -> Result<bool, Fault> {
        let end = (self.clock)() + longest;
        loop {
            let result = self.test_event(event);
            if result != Ok(false) || (self.clock)() >= end {
                return result;
            }
            self.sleep(end);
        }
    }

    /// Compares the word at `variable` of every node of the set with `value`; if it holds on all, writes
    /// `write` (offset and value) on all. Waits. True: it held, and the value is written on all nodes. An
    /// error names the node that failed, at the latest some limits after that.
    pub fn compare_and_write(
        &mut self,
        set: &NodeSet,
        variable: usize,
        comparison: Comparison,
        value: u64,
        write: Option<(usize, u64)>,
    ) -> Result<Outcome, Mistake> {
        let number = self.start(set, Operation::Compare { variable, comparison, value, write })?;
        loop {
            if let Some(outcome) = self.machine.outcome(number) {
                return Ok(outcome);
            }
            self.sleep((self.clock)() + NAP);
            self.advance(Some(number));
        }
    }

    /// This node's own bytes, as all operations that have returned have left them. Waits, so long at most,
    /// while it is in doubt what they are; None: it still is.
    pub fn read(&mut self, at: usize, length: usize, longest: Duration) -> Option<Vec<u8>> {
        let end = (self.clock)() + longest;
        loop {
            self.progress();
            if self.machine.readable(&(at..at + length)) {
                return Some(self.wire.memory().bytes(at, length));
            }
            if (self.clock)() >= end {
                return None;
            }
            self.sleep(end);
        }
    }

    /// Sets a word of this node's own memory: a flag that others compare. Only for words that no operation
    /// writes.
    pub fn set(&mut self, at: usize, value: u64) {
        self.wire.memory().store(at, value);
    }

    /// Declares a node dead: nothing waits for it any more, and nothing it sends is heard. To be done at
    /// all nodes.
    pub fn evict(&mut self, node: NodeId) {
        self.machine.evict(node);
    }

    /// Takes up what has come and sends what is due. Does not wait.
    pub fn progress(&mut self) {
        self.advance(None);
    }

    /// Sleeps until something may have come, and so long at most; takes it up.
    pub fn serve(&mut self, longest: Duration) {
        self.sleep((self.clock)() + longest);
        self.progress();
    }

    fn start(&mut self, set: &NodeSet, operation: Operation) -> Result<Number, Mistake> {
        self.progress();
        let (number, out) = self.machine.start((self.clock)(), self.wire.memory(), set.clone(), operation)?;
        self.send(out);
        Ok(number)
    }

    /// As `progress`; the outcome of one operation is left to its caller.
    fn advance(&mut self, awaited: Option<Number>) {
        while let Some(event) = self.wire.poll() {
            // That the network has given a node up is no more than what its silence will tell; puts and
            // atomics are not used here.
            let Event::Message { from, bytes } = event else { continue };
            if let Some(message) = Message::decode(&bytes) {
                let out = self.machine.receive((self.clock)(), self.wire.memory(), from, message);
                self.send(out);
            }
        }
        let now = (self.clock)();
        if self.machine.alarm().is_some_and(|alarm| alarm <= now) {
            let out = self.machine.tick(now, self.wire.memory());
            self.send(out);
        }
        if awaited.is_none() {
            self.collect();
        }
    }

    /// Signals the local events of transfers that have ended.
    fn collect(&mut self) {
        for (number, outcome) in self.machine.ended() {
            if let Some(event) = self.local.remove(&number) {
                match outcome {
                    Ok(_) => self.machine.signal(event),
                    Err(fault) => self.faults.entry(event).or_default().push(fault),
                }
            }
        }
    }

    fn send(&mut self, out: Vec<(NodeId, Message)>) {
        for (to, message) in out {
            // A node that the network has given up hears nothing, as if the message were lost.
            drop(self.wire.send(to, &message.encode()));
        }
    }

    fn sleep(&mut self, until: Duration) {
        let now = (self.clock)();
        let until = self.machine.alarm().map_or(until, |alarm| alarm.min(until));
        self.wire.wait(until.saturating_sub(now));
    }
}
