//! What node 0 does: it sends, waits for answers, and takes the times.

use super::super::pass_times::PassTimes;
use super::super::signal::{content, now_ns};
use super::message::{HEADER_BYTES, Header, MessageKind};
use super::node_pass::{NodePass, NodePassError, NodeScenario, SIGNALS_PER_CREDIT, pause};
use evenkeel_fabric::{Event, NodeId, Wire};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Signals of a stream.
const STREAM: u64 = 512;
/// Signals of a stream that may be under way.
const UNDER_WAY: u64 = 128;
/// Answers are assumed to have arrived after this many round trips, and never before this time.
const TRIPS: u32 = 4;
const LEAST_TO_COLLECT: Duration = Duration::from_micros(100);

/// Node 0.
pub struct Coordinator<W> {
    wire: W,
    patience: Duration,
    /// The number of the last turn.
    epoch: u64,
    /// By number of peers: the median round trip of the last pass of exchanges.
    round_trips: HashMap<usize, Duration>,
}

/// A message of a measurement.
struct Received {
    from: usize,
    header: Header,
    message: Vec<u8>,
}

impl<W: Wire> Coordinator<W> {
    /// `patience`: a node that has not answered for this long is considered lost.
    pub fn new(wire: W, patience: Duration) -> Coordinator<W> {
        Coordinator { wire, patience, epoch: 0, round_trips: HashMap::new() }
    }

    /// One pass.
    pub fn run(&mut self, pass: &NodePass) -> Result<PassTimes, NodePassError> {
        self.epoch += 1;
        self.send_all(pass, MessageKind::Begin, |_| u64::from(pass.shares_cores))?;
        self.answers(pass, MessageKind::Ready)?;
        let (mut times, mut not_timed) = (PassTimes::default(), PassTimes::default());
        let began = Instant::now();
        for turn in 0..pass.warm_up + pass.turns {
            let into = if turn < pass.warm_up { &mut not_timed } else { &mut times };
            self.epoch += 1;
            match pass.scenario {
                NodeScenario::Exchange => self.exchange(pass, into)?,
                NodeScenario::Collect => self.collect(pass, into)?,
                NodeScenario::Stream => self.stream(pass, into)?,
                NodeScenario::Messages { bytes } => self.message(pass, bytes, into)?,
            }
            if times.whole.len() >= 2 && began.elapsed().as_micros() as u64 > pass.enough_us {
                break;
            }
        }
        self.epoch += 1;
        self.send_all(pass, MessageKind::End, |_| 0)?;
        if pass.scenario == NodeScenario::Exchange {
            let mut sorted = times.whole.clone();
            sorted.sort_unstable();
            self.round_trips.insert(pass.peers, Duration::from_nanos(sorted[sorted.len() / 2]));
        }
        Ok(times)
    }

    fn exchange(&mut self, pass: &NodePass, times: &mut PassTimes) -> Result<(), NodePassError> {
        let epoch = self.epoch;
        let start = now_ns();
        self.send_all(pass, MessageKind::Signal, |peer| content(epoch, peer))?;
        let posted = now_ns();
        self.answers(pass, MessageKind::Answer)?;
        times.whole.push(now_ns() - start);
        times.posting.push(posted - start);
        Ok(())
    }

    /// Takes nothing from the network until all answers have had time to arrive. If one is late nevertheless,
    /// this turn takes longer, which does not change the median.
    fn collect(&mut self, pass: &NodePass, times: &mut PassTimes) -> Result<(), NodePassError> {
        let epoch = self.epoch;
        let round_trips = self.round_trips.get(&pass.peers).map_or(Duration::ZERO, |trip| *trip * TRIPS);
        self.send_all(pass, MessageKind::Signal, |peer| content(epoch, peer))?;
        let sent = Instant::now();
        while sent.elapsed() < round_trips.max(LEAST_TO_COLLECT) {
            pause(pass.shares_cores);
        }
        let start = now_ns();
        self.answers(pass, MessageKind::Answer)?;
        times.whole.push(now_ns() - start);
        Ok(())
    }

    fn stream(&mut self, pass: &NodePass, times: &mut PassTimes) -> Result<(), NodePassError> {
        let (first, mut credited) = (self.epoch, 0);
        let mut before = None;
        for sent in 0..STREAM {
            // The stream is in full flow: as many signals are sent as are taken.
            while sent >= credited + UNDER_WAY {
                self.credit(pass, first, credited)?;
                credited += SIGNALS_PER_CREDIT;
                let now = now_ns();
                times.whole.extend(before.replace(now).map(|before| now - before));
            }
            let is_reported = (sent + 1) % SIGNALS_PER_CREDIT == 0;
            let kind = if is_reported { MessageKind::StreamToReport } else { MessageKind::Stream };
            let epoch = first + sent;
            self.send(1, Header { kind, epoch, content: content(epoch, 1) })?;
        }
        for rest in (credited..STREAM).step_by(SIGNALS_PER_CREDIT as usize) {
            self.credit(pass, first, rest)?;
        }
        self.epoch = first + STREAM - 1;
        Ok(())
    }

    /// Waits until node 1 has taken [`SIGNALS_PER_CREDIT`] signals of the stream more than `before`.
    fn credit(&mut self, pass: &NodePass, first: u64, before: u64) -> Result<(), NodePassError> {
        let epoch = first + before + SIGNALS_PER_CREDIT - 1;
        self.wait_for(pass, MessageKind::Credit, epoch).map(drop)
    }

    fn message(&mut self, pass: &NodePass, bytes: usize, times: &mut PassTimes) -> Result<(), NodePassError> {
        let epoch = self.epoch;
        let header = Header { kind: MessageKind::Message, epoch, content: content(epoch, 1) };
        let mut message = vec![epoch as u8; bytes.max(HEADER_BYTES)];
        message[..HEADER_BYTES].copy_from_slice(&header.bytes());
        let start = now_ns();
        self.wire.send(NodeId(1), &message).map_err(|e| NodePassError::Lost(1, e.to_string()))?;
        let answer = self.wait_for(pass, MessageKind::Returned, epoch)?;
        times.whole.push(now_ns() - start);
        if answer.len() == message.len() && answer[8..] == message[8..] {
            Ok(())
        } else {
            Err(NodePassError::WrongContent(1))
        }
    }

    /// Waits for a message of node 1 and returns it. Other messages are late and are ignored.
    fn wait_for(&mut self, pass: &NodePass, kind: MessageKind, epoch: u64) -> Result<Vec<u8>, NodePassError> {
        loop {
            let received = self.next(pass.shares_cores, || vec![1])?;
            if (received.from, received.header.kind, received.header.epoch) == (1, kind, epoch) {
                return Ok(received.message);
            }
        }
    }

    fn send(&mut self, to: usize, header: Header) -> Result<(), NodePassError> {
        self.wire.send(NodeId(to as u32), &header.bytes()).map_err(|e| NodePassError::Lost(to, e.to_string()))
    }

    fn send_all(
        &mut self,
        pass: &NodePass,
        kind: MessageKind,
        content: impl Fn(usize) -> u64,
    ) -> Result<(), NodePassError> {
        let epoch = self.epoch;
        (1..=pass.peers).try_for_each(|peer| self.send(peer, Header { kind, epoch, content: content(peer) }))
    }

    /// Waits until each peer has answered this turn.
    fn answers(&mut self, pass: &NodePass, awaited: MessageKind) -> Result<(), NodePassError> {
        let (epoch, mut has_come, mut missing) = (self.epoch, vec![false; pass.peers + 1], pass.peers);
        while missing > 0 {
            let silent = || (1..=pass.peers).filter(|peer| !has_come[*peer]).collect();
            let Received { from, header, .. } = self.next(pass.shares_cores, silent)?;
            if (header.kind, header.epoch) != (awaited, epoch) || from > pass.peers || has_come[from] {
                continue; // it is late, or came twice
            }
            if header.content != content(!epoch, from) {
                return Err(NodePassError::WrongContent(from));
            }
            has_come[from] = true;
            missing -= 1;
        }
        Ok(())
    }

    /// The next message of a measurement. `awaited`: the nodes that are waited for.
    fn next(
        &mut self,
        shares_cores: bool,
        awaited: impl Fn() -> Vec<usize>,
    ) -> Result<Received, NodePassError> {
        let mut began = None;
        let mut polls = 0_u32;
        loop {
            match self.wire.poll() {
                Some(Event::Message { from, bytes }) => {
                    let header = Header::read(&bytes).filter(|header| header.kind != MessageKind::Wrong);
                    let header = header.ok_or(NodePassError::WrongContent(from.index()))?;
                    return Ok(Received { from: from.index(), header, message: bytes });
                }
                Some(Event::Lost { node, why }) => return Err(NodePassError::Lost(node.index(), why)),
                Some(Event::Completed { .. }) => {}
                None => pause(shares_cores),
            }
            polls = polls.wrapping_add(1);
            // Reading the clock after each poll would take too long.
            if polls % 64 == 0 && began.get_or_insert_with(Instant::now).elapsed() > self.patience {
                return Err(NodePassError::Silent(awaited()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::responder::respond;
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

    /// Only ends a test that hangs: threads of a busy machine may be slow.
    const HUNG: Duration = Duration::from_secs(300);

    /// Runs something on node 0 while all other nodes answer.
    fn among<T>(nodes: usize, run: impl FnOnce(&mut Coordinator<SegmentWire>) -> T) -> T {
        let mut wires = wires(nodes);
        let mut first = Coordinator::new(wires.remove(0), HUNG);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for mut wire in wires {
                let over = &over;
                scope.spawn(move || respond(&mut wire, || over.load(Ordering::Relaxed)));
            }
            let result = run(&mut first);
            over.store(true, Ordering::Relaxed);
            result
        })
    }

    fn pass(scenario: NodeScenario, peers: usize) -> NodePass {
        NodePass { scenario, peers, turns: 5, warm_up: 2, enough_us: u64::MAX, shares_cores: true }
    }

    #[test]
    fn each_scenario_gives_a_time_for_each_turn_but_the_first() {
        among(4, |coordinator| {
            for peers in [1, 3] {
                let times = coordinator.run(&pass(NodeScenario::Exchange, peers)).unwrap();
                assert_eq!((times.whole.len(), times.posting.len()), (5, 5));
                assert!(times.whole.iter().zip(&times.posting).all(|(whole, posting)| whole >= posting));
                let times = coordinator.run(&pass(NodeScenario::Collect, peers)).unwrap();
                assert_eq!((times.whole.len(), times.posting.len()), (5, 0));
            }
            let samples = ((STREAM - UNDER_WAY) / SIGNALS_PER_CREDIT - 1) as usize;
            assert_eq!(coordinator.run(&pass(NodeScenario::Stream, 1)).unwrap().whole.len(), 5 * samples);
            for bytes in [16, 100_000] {
                assert_eq!(
                    coordinator.run(&pass(NodeScenario::Messages { bytes }, 1)).unwrap().whole.len(),
                    5
                );
            }
            let short = NodePass { enough_us: 0, ..pass(NodeScenario::Exchange, 1) };
            assert_eq!(coordinator.run(&short).unwrap().whole.len(), 2, "two, however long they take");
        });
    }

    /// The answers of the other nodes are there before they are waited for.
    #[test]
    fn a_node_that_does_not_answer_is_named() {
        let mut wires = wires(4);
        let mut coordinator = Coordinator::new(wires.remove(0), Duration::from_millis(10));
        for wire in wires.iter_mut().filter(|wire| wire.node() != NodeId(2)) {
            let content = content(!1, wire.node().index());
            wire.send(NodeId(0), &Header { kind: MessageKind::Ready, epoch: 1, content }.bytes()).unwrap();
        }
        let outcome = coordinator.run(&pass(NodeScenario::Exchange, 3)).err();
        assert_eq!(outcome, Some(NodePassError::Silent(vec![2])));
    }

    #[test]
    fn a_wrong_answer_is_noticed_and_a_late_one_is_passed_over() {
        let mut wires = wires(2);
        let mut peer = wires.pop().unwrap();
        let mut coordinator = Coordinator::new(wires.pop().unwrap(), HUNG);
        for (kind, epoch, content) in [
            (MessageKind::Ready, 1, content(!1, 1)),
            (MessageKind::Answer, 1, 7),
            (MessageKind::Answer, 2, content(!2, 1)),
            (MessageKind::Answer, 3, 5),
        ] {
            peer.send(NodeId(0), &Header { kind, epoch, content }.bytes()).unwrap();
        }
        // The second message is late. The fourth answers turn 3, but with a wrong content.
        assert_eq!(
            coordinator.run(&pass(NodeScenario::Exchange, 1)).err(),
            Some(NodePassError::WrongContent(1))
        );
        assert_eq!(coordinator.epoch, 3);
    }
}
