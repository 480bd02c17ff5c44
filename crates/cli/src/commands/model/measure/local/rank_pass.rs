//! One pass of one scenario: rank 0, which takes the times, and its peers each do their part.

use super::super::pass_times::PassTimes;
use super::super::signal::{content, now_ns};
use super::signal_memory::{Flag, MailboxEnds, STREAM, SignalMemory, TimeoutError, poll_until};
use evenkeel_segment::sync::Ordering;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// One pass of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankPass {
    /// What is done.
    pub scenario: Scenario,
    /// How many peers take part.
    pub peers: usize,
    /// Epochs of this pass begin after this one.
    pub base: u64,
    /// How many turns there are.
    pub turns: u64,
    /// The first turns, which are not timed.
    pub warm_up: u64,
    /// The core that each rank of the pass is held on, rank 0's first.
    pub cores: Vec<usize>,
    /// Whether there are more ranks than cores: a rank that waits then yields its core.
    pub shares_cores: bool,
}

/// What is done in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scenario {
    /// Rank 0 signals each peer, each answers: o_s(p) and RTT(p).
    Exchange,
    /// The same, and each peer notes when it saw the signal: 1:n and n:1.
    Stamped,
    /// Rank 0 takes signals that are all there: o_r(p).
    Collect,
    /// Rank 0 sends a stream to rank 1: g. Each time is that of a block of [`BLOCK`] messages.
    Stream,
    /// Rank 0 and rank 1 send each other messages of so many bytes.
    Messages {
        /// The length of each.
        bytes: usize,
    },
}

/// Messages of a stream that are timed together.
pub const BLOCK: u64 = 2000;
/// The reader of a stream reports its position after so many messages.
const REPORT_EVERY: u64 = 16;

/// Why a pass was not completed.
#[derive(Debug, Error)]
pub enum PassError {
    /// A rank did not answer.
    #[error(transparent)]
    Timeout(#[from] TimeoutError),
    /// What came was not what was sent.
    #[error("a rank got something else than was sent to it")]
    WrongContent,
}

fn expect(got: u64, wanted: u64) -> Result<(), PassError> {
    if got == wanted { Ok(()) } else { Err(PassError::WrongContent) }
}

/// Sets the counters of a pass. To be called before any peer knows of the pass.
pub fn prepare(memory: &SignalMemory, pass: &RankPass) {
    memory.sent_up().store(0, Ordering::Relaxed);
    memory.streamed().store(pass.base, Ordering::Relaxed);
}

/// What rank 0 does.
pub fn lead(memory: &SignalMemory, pass: &RankPass) -> Result<PassTimes, PassError> {
    for peer in 1..=pass.peers {
        poll_until(true, || memory.is_raised(Flag::Ready, peer, pass.base + 1))?;
    }
    let mut times = PassTimes::default();
    match pass.scenario {
        Scenario::Exchange | Scenario::Stamped | Scenario::Collect => {
            for turn in 0..pass.turns {
                let epoch = pass.base + 1 + turn;
                let mut not_timed = PassTimes::default();
                let into = if turn < pass.warm_up { &mut not_timed } else { &mut times };
                match pass.scenario {
                    Scenario::Collect => collect(memory, pass, epoch, into)?,
                    _ => exchange(memory, pass, epoch, into)?,
                }
            }
        }
        Scenario::Stream => stream(memory, pass, &mut times)?,
        Scenario::Messages { bytes } => messages(memory, pass, bytes, &mut times)?,
    }
    Ok(times)
}

fn exchange(
    memory: &SignalMemory,
    pass: &RankPass,
    epoch: u64,
    times: &mut PassTimes,
) -> Result<(), PassError> {
    let start = now_ns();
    for peer in 1..=pass.peers {
        memory.raise(Flag::Down, peer, epoch, content(epoch, peer));
    }
    // The peers work meanwhile, so that reading the clock here delays only this rank, which would wait
    // anyway.
    let posted = now_ns();
    for peer in 1..=pass.peers {
        poll_until(pass.shares_cores, || memory.is_raised(Flag::Up, peer, epoch))?;
    }
    let end = now_ns();
    for peer in 1..=pass.peers {
        expect(memory.content_of(Flag::Up, peer), content(!epoch, peer))?;
    }
    if pass.scenario == Scenario::Stamped {
        let last = (1..=pass.peers).map(|peer| memory.content_of(Flag::Seen, peer)).max().unwrap_or(start);
        times.to_last.push(last.saturating_sub(start));
        times.from_last.push(end.saturating_sub(last));
    } else {
        times.whole.push(end - start);
        times.posting.push(posted - start);
    }
    Ok(())
}

fn collect(
    memory: &SignalMemory,
    pass: &RankPass,
    epoch: u64,
    times: &mut PassTimes,
) -> Result<(), PassError> {
    for peer in 1..=pass.peers {
        memory.raise(Flag::Down, peer, epoch, content(epoch, peer));
    }
    // All signals are there when the counter says so, and this rank has not accessed their lines yet.
    // Acquire: pairs with the addition in `follow`.
    let all = (epoch - pass.base) * pass.peers as u64;
    poll_until(pass.shares_cores, || memory.sent_up().load(Ordering::Acquire) >= all)?;
    let start = now_ns();
    for peer in 1..=pass.peers {
        poll_until(pass.shares_cores, || memory.is_raised(Flag::Up, peer, epoch))?;
        expect(memory.content_of(Flag::Up, peer), content(!epoch, peer))?;
    }
    times.whole.push(now_ns() - start);
    Ok(())
}

fn stream(memory: &SignalMemory, pass: &RankPass, times: &mut PassTimes) -> Result<(), PassError> {
    let mut message = pass.base;
    for turn in 0..pass.turns {
        let start = now_ns();
        for _ in 0..BLOCK {
            // Acquire: pairs with the reader's store, after which the slot has been read.
            poll_until(pass.shares_cores, || message - memory.streamed().load(Ordering::Acquire) < STREAM)?;
            message += 1;
            memory.slot(message).store(message, Ordering::Release); // pairs with the reader's load
        }
        poll_until(pass.shares_cores, || memory.streamed().load(Ordering::Acquire) >= message)?;
        if turn >= pass.warm_up {
            times.whole.push(now_ns() - start);
        }
    }
    Ok(())
}

fn messages(
    memory: &SignalMemory,
    pass: &RankPass,
    bytes: usize,
    times: &mut PassTimes,
) -> Result<(), PassError> {
    let (mut writer, mut reader) = mailbox_ends(memory, 0)?;
    let (mut message, mut answer) = (vec![0_u8; bytes], vec![0_u8; bytes]);
    for turn in 0..pass.turns {
        let number = turn as u8;
        message[0] = number;
        message[bytes - 1] = number;
        let start = now_ns();
        poll_until(pass.shares_cores, || writer.write(&message))?;
        poll_until(pass.shares_cores, || reader.read(&mut answer))?;
        let end = now_ns();
        expect(
            u64::from(answer[0]) << 8 | u64::from(answer[bytes - 1]),
            u64::from(number) << 8 | u64::from(number),
        )?;
        if turn >= pass.warm_up {
            times.whole.push(end - start);
        }
    }
    Ok(())
}

/// Waits until no other process has these ends.
fn mailbox_ends(memory: &SignalMemory, side: usize) -> Result<MailboxEnds<'_>, PassError> {
    let mut found = None;
    poll_until(true, || {
        found = memory.mailbox_ends(side);
        found.is_some()
    })?;
    Ok(found.ok_or(TimeoutError)?)
}

/// What a peer does.
pub fn follow(memory: &SignalMemory, pass: &RankPass, rank: usize) -> Result<(), PassError> {
    match pass.scenario {
        Scenario::Exchange | Scenario::Stamped | Scenario::Collect => answer_signals(memory, pass, rank),
        Scenario::Stream => take_stream(memory, pass, rank),
        Scenario::Messages { bytes } => return_messages(memory, pass, rank, bytes),
    }
}

fn answer_signals(memory: &SignalMemory, pass: &RankPass, rank: usize) -> Result<(), PassError> {
    memory.raise(Flag::Ready, rank, pass.base + 1, 0);
    for epoch in pass.base + 1..=pass.base + pass.turns {
        poll_until(pass.shares_cores, || memory.is_raised(Flag::Down, rank, epoch))?;
        if pass.scenario == Scenario::Stamped {
            memory.raise(Flag::Seen, rank, epoch, now_ns());
        }
        expect(memory.content_of(Flag::Down, rank), content(epoch, rank))?;
        memory.raise(Flag::Up, rank, epoch, content(!epoch, rank));
        if pass.scenario == Scenario::Collect {
            memory.sent_up().fetch_add(1, Ordering::Release); // pairs with the load in `collect`
        }
    }
    Ok(())
}

fn take_stream(memory: &SignalMemory, pass: &RankPass, rank: usize) -> Result<(), PassError> {
    memory.raise(Flag::Ready, rank, pass.base + 1, 0);
    for message in pass.base + 1..=pass.base + pass.turns * BLOCK {
        // Acquire: pairs with the store in `stream`.
        poll_until(pass.shares_cores, || memory.slot(message).load(Ordering::Acquire) >= message)?;
        expect(memory.slot(message).load(Ordering::Relaxed), message)?;
        if message % REPORT_EVERY == 0 || (message - pass.base) % BLOCK == 0 {
            memory.streamed().store(message, Ordering::Release); // pairs with the loads in `stream`
        }
    }
    Ok(())
}

fn return_messages(
    memory: &SignalMemory,
    pass: &RankPass,
    rank: usize,
    bytes: usize,
) -> Result<(), PassError> {
    let (mut writer, mut reader) = mailbox_ends(memory, 1)?;
    let mut message = vec![0_u8; bytes];
    memory.raise(Flag::Ready, rank, pass.base + 1, 0);
    for _ in 0..pass.turns {
        poll_until(pass.shares_cores, || reader.read(&mut message))?;
        poll_until(pass.shares_cores, || writer.write(&message))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(scenario: Scenario, peers: usize, turns: u64, warm_up: u64) -> RankPass {
        RankPass { scenario, peers, base: 0, turns, warm_up, cores: Vec::new(), shares_cores: true }
    }

    fn among(peers: usize, scenario: Scenario, turns: u64) -> Result<PassTimes, PassError> {
        let memory = SignalMemory::create(3).unwrap();
        let pass = pass(scenario, peers, turns, 1);
        prepare(&memory, &pass);
        std::thread::scope(|scope| {
            for rank in 1..=peers {
                let (memory, pass) = (&memory, &pass);
                scope.spawn(move || follow(memory, pass, rank).unwrap());
            }
            lead(&memory, &pass)
        })
    }

    #[test]
    fn each_scenario_gives_a_time_for_each_turn_but_the_first() {
        let lengths = |t: &PassTimes| [t.whole.len(), t.posting.len(), t.to_last.len(), t.from_last.len()];
        for peers in [1, 3] {
            assert_eq!(lengths(&among(peers, Scenario::Exchange, 6).unwrap()), [5, 5, 0, 0]);
            assert_eq!(lengths(&among(peers, Scenario::Stamped, 6).unwrap()), [0, 0, 5, 5]);
            assert_eq!(lengths(&among(peers, Scenario::Collect, 6).unwrap()), [5, 0, 0, 0]);
        }
        assert_eq!(lengths(&among(1, Scenario::Stream, 3).unwrap()), [2, 0, 0, 0]);
        for bytes in [1, 5000] {
            assert_eq!(lengths(&among(1, Scenario::Messages { bytes }, 4).unwrap()), [3, 0, 0, 0]);
        }
    }

    #[test]
    fn an_answer_to_a_signal_that_was_not_read_is_noticed() {
        let memory = SignalMemory::create(3).unwrap();
        let pass = pass(Scenario::Exchange, 1, 2, 0);
        prepare(&memory, &pass);
        memory.raise(Flag::Ready, 1, 1, 0);
        memory.raise(Flag::Up, 1, 1, 12345);
        assert!(matches!(lead(&memory, &pass), Err(PassError::WrongContent)));
    }
}
