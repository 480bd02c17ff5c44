//! What a measurement's ranks are told to do, and how: the same task for rank 0, which takes the times,
//! and for its peers.

use super::signal_memory::{Flag, STREAM, Silence, Wires, content, now_ns, until};
use evenkeel_segment::sync::Ordering;
use serde::{Deserialize, Serialize};

/// One pass of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub scenario: Scenario,
    pub peers: usize,
    /// Epochs of this task begin after this one.
    pub base: u64,
    /// How often; the first of them only warm up.
    pub times: u64,
    pub warm_up: u64,
    /// The core that each rank of the task is held on, rank 0's first.
    pub cores: Vec<usize>,
    /// More ranks than cores: whoever waits gives the core away.
    pub share: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scenario {
    /// Rank 0 signals each peer, each answers: o_s(p) and RTT(p).
    Exchange,
    /// The same, and each peer notes when it saw the signal: 1:n and n:1.
    Stamped,
    /// Rank 0 takes signals that are all there: o_r(p).
    Collect,
    /// Rank 0 sends a stream to rank 1: g. Each time is a block of [`BLOCK`] messages.
    Stream,
    /// Rank 0 and rank 1 send each other messages of so many bytes.
    Letters { bytes: usize },
}

/// Messages of a stream that are timed together.
pub const BLOCK: u64 = 2000;
/// The reader of a stream says so often how far it is.
const SAY_EVERY: u64 = 16;

/// Why a task was not done.
#[derive(Debug)]
pub enum Trouble {
    /// A rank did not answer.
    Silent,
    /// What came was not what was sent.
    Wrong,
}

impl From<Silence> for Trouble {
    fn from(_: Silence) -> Trouble {
        Trouble::Silent
    }
}

/// Times of one pass, in nanoseconds as the clock gave them; what is not part of the scenario stays empty.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Times {
    /// Of the whole: until all answers are there, a block, a letter and its answer.
    pub whole: Vec<u64>,
    /// Of posting alone.
    pub posting: Vec<u64>,
    pub to_last: Vec<u64>,
    pub from_last: Vec<u64>,
}

fn expect(got: u64, wanted: u64) -> Result<(), Trouble> {
    if got == wanted { Ok(()) } else { Err(Trouble::Wrong) }
}

/// Sets the counters of a task; before any peer has heard of it.
pub fn prepare(wires: &Wires, task: &Task) {
    wires.sent_up().store(0, Ordering::Relaxed);
    wires.streamed().store(task.base, Ordering::Relaxed);
}

/// Rank 0's part.
pub fn lead(wires: &Wires, task: &Task) -> Result<Times, Trouble> {
    for peer in 1..=task.peers {
        until(true, || wires.is_raised(Flag::Ready, peer, task.base + 1))?;
    }
    let mut times = Times::default();
    match task.scenario {
        Scenario::Exchange | Scenario::Stamped | Scenario::Collect => {
            for turn in 0..task.times {
                let epoch = task.base + 1 + turn;
                let mut sink = Times::default();
                let into = if turn < task.warm_up { &mut sink } else { &mut times };
                if task.scenario == Scenario::Collect {
                    collect(wires, task, epoch, into)?
                } else {
                    exchange(wires, task, epoch, into)?
                }
            }
        }
        Scenario::Stream => stream(wires, task, &mut times)?,
        Scenario::Letters { bytes } => letters(wires, task, bytes, &mut times)?,
    }
    Ok(times)
}

fn exchange(wires: &Wires, task: &Task, epoch: u64, times: &mut Times) -> Result<(), Trouble> {
    let start = now_ns();
    for peer in 1..=task.peers {
        wires.raise(Flag::Down, peer, epoch, content(epoch, peer));
    }
    // Peers are on their way meanwhile: reading the clock here delays nobody but who would wait anyway.
    let posted = now_ns();
    for peer in 1..=task.peers {
        until(task.share, || wires.is_raised(Flag::Up, peer, epoch))?;
    }
    let end = now_ns();
    for peer in 1..=task.peers {
        expect(wires.content_of(Flag::Up, peer), content(!epoch, peer))?;
    }
    if task.scenario == Scenario::Stamped {
        let last = (1..=task.peers).map(|peer| wires.content_of(Flag::Seen, peer)).max().unwrap_or(start);
        times.to_last.push(last.saturating_sub(start));
        times.from_last.push(end.saturating_sub(last));
    } else {
        times.whole.push(end - start);
        times.posting.push(posted - start);
    }
    Ok(())
}

fn collect(wires: &Wires, task: &Task, epoch: u64, times: &mut Times) -> Result<(), Trouble> {
    for peer in 1..=task.peers {
        wires.raise(Flag::Down, peer, epoch, content(epoch, peer));
    }
    // All signals are there when the counter says so; their lines have not been touched here yet. Acquire:
    // pairs with `follow`.
    let all = (epoch - task.base) * task.peers as u64;
    until(task.share, || wires.sent_up().load(Ordering::Acquire) >= all)?;
    let start = now_ns();
    for peer in 1..=task.peers {
        until(task.share, || wires.is_raised(Flag::Up, peer, epoch))?;
        expect(wires.content_of(Flag::Up, peer), content(!epoch, peer))?;
    }
    times.whole.push(now_ns() - start);
    Ok(())
}

fn stream(wires: &Wires, task: &Task, times: &mut Times) -> Result<(), Trouble> {
    let mut message = task.base;
    for turn in 0..task.times {
        let start = now_ns();
        for _ in 0..BLOCK {
            // Acquire: pairs with the reader's store; the slot has been read.
            until(task.share, || message - wires.streamed().load(Ordering::Acquire) < STREAM)?;
            message += 1;
            wires.slot(message).store(message, Ordering::Release); // pairs with the reader's load
        }
        until(task.share, || wires.streamed().load(Ordering::Acquire) >= message)?;
        if turn >= task.warm_up {
            times.whole.push(now_ns() - start);
        }
    }
    Ok(())
}

fn letters(wires: &Wires, task: &Task, bytes: usize, times: &mut Times) -> Result<(), Trouble> {
    let (mut writer, mut reader) = ends(wires, 0)?;
    let (mut letter, mut answer) = (vec![0_u8; bytes], vec![0_u8; bytes]);
    for turn in 0..task.times {
        let number = turn as u8;
        letter[0] = number;
        letter[bytes - 1] = number;
        let start = now_ns();
        until(task.share, || writer.write(&letter))?;
        until(task.share, || reader.read(&mut answer))?;
        let end = now_ns();
        expect(
            u64::from(answer[0]) << 8 | u64::from(answer[bytes - 1]),
            u64::from(number) << 8 | u64::from(number),
        )?;
        if turn >= task.warm_up {
            times.whole.push(end - start);
        }
    }
    Ok(())
}

fn ends<'a>(
    wires: &'a Wires,
    side: usize,
) -> Result<(evenkeel_segment::mailbox::Writer<'a>, evenkeel_segment::mailbox::Reader<'a>), Trouble> {
    let mut found = None;
    until(true, || {
        found = wires.letters(side);
        found.is_some()
    })?;
    found.ok_or(Trouble::Silent)
}

/// A peer's part.
pub fn follow(wires: &Wires, task: &Task, rank: usize) -> Result<(), Trouble> {
    match task.scenario {
        Scenario::Exchange | Scenario::Stamped | Scenario::Collect => {
            wires.raise(Flag::Ready, rank, task.base + 1, 0);
            for epoch in task.base + 1..=task.base + task.times {
                until(task.share, || wires.is_raised(Flag::Down, rank, epoch))?;
                if task.scenario == Scenario::Stamped {
                    wires.raise(Flag::Seen, rank, epoch, now_ns());
                }
                expect(wires.content_of(Flag::Down, rank), content(epoch, rank))?;
                wires.raise(Flag::Up, rank, epoch, content(!epoch, rank));
                if task.scenario == Scenario::Collect {
                    wires.sent_up().fetch_add(1, Ordering::Release); // pairs with the load in `collect`
                }
            }
        }
        Scenario::Stream => {
            wires.raise(Flag::Ready, rank, task.base + 1, 0);
            for message in task.base + 1..=task.base + task.times * BLOCK {
                // pairs with `stream`
                until(task.share, || wires.slot(message).load(Ordering::Acquire) >= message)?;
                expect(wires.slot(message).load(Ordering::Relaxed), message)?;
                if message % SAY_EVERY == 0 || (message - task.base) % BLOCK == 0 {
                    wires.streamed().store(message, Ordering::Release); // pairs with `stream`
                }
            }
        }
        Scenario::Letters { bytes } => {
            let (mut writer, mut reader) = ends(wires, 1)?;
            let mut letter = vec![0_u8; bytes];
            wires.raise(Flag::Ready, rank, task.base + 1, 0);
            for _ in 0..task.times {
                until(task.share, || reader.read(&mut letter))?;
                until(task.share, || writer.write(&letter))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(peers: usize, scenario: Scenario, times: u64) -> Result<Times, Trouble> {
        let wires = Wires::create(3).unwrap();
        let task = Task { scenario, peers, base: 0, times, warm_up: 1, cores: Vec::new(), share: true };
        prepare(&wires, &task);
        std::thread::scope(|scope| {
            for rank in 1..=peers {
                let (wires, task) = (&wires, &task);
                scope.spawn(move || follow(wires, task, rank).unwrap());
            }
            lead(&wires, &task)
        })
    }

    #[test]
    fn each_scenario_gives_a_time_for_each_turn_but_the_first() {
        let lengths = |t: &Times| [t.whole.len(), t.posting.len(), t.to_last.len(), t.from_last.len()];
        for peers in [1, 3] {
            assert_eq!(lengths(&among(peers, Scenario::Exchange, 6).unwrap()), [5, 5, 0, 0]);
            assert_eq!(lengths(&among(peers, Scenario::Stamped, 6).unwrap()), [0, 0, 5, 5]);
            assert_eq!(lengths(&among(peers, Scenario::Collect, 6).unwrap()), [5, 0, 0, 0]);
        }
        assert_eq!(lengths(&among(1, Scenario::Stream, 3).unwrap()), [2, 0, 0, 0]);
        for bytes in [1, 5000] {
            assert_eq!(lengths(&among(1, Scenario::Letters { bytes }, 4).unwrap()), [3, 0, 0, 0]);
        }
    }

    #[test]
    fn what_comes_back_wrong_is_noticed() {
        let wires = Wires::create(3).unwrap();
        let task = Task {
            scenario: Scenario::Exchange,
            peers: 1,
            base: 0,
            times: 2,
            warm_up: 0,
            cores: Vec::new(),
            share: true,
        };
        prepare(&wires, &task);
        wires.raise(Flag::Ready, 1, 1, 0);
        wires.raise(Flag::Up, 1, 1, 12345); // an answer to a signal that nobody has read
        assert!(matches!(lead(&wires, &task), Err(Trouble::Wrong)));
    }
}
