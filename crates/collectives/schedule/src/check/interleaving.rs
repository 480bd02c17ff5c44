//! Executions in which events happen in a given order.

use super::error::CheckError;
use super::execution::Execution;
use crate::schedule::Schedule;
use crate::step::Rank;
use evenkeel_random::Random;

/// The order in which ranks take steps and messages arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interleaving {
    /// Every rank goes as far as it can, and messages arrive at once.
    Prompt,
    /// This rank does something only when no other rank can.
    Late(Rank),
    /// Messages arrive only when no rank can do anything, one by one, the last sent first.
    LastFirst,
    /// Ranks and messages take turns in an order drawn from this seed.
    Random(u64),
}

/// Executes a schedule for some epochs, 3 or more to see every bank reused. Returns the execution at its
/// end, or the first rule that is broken.
pub fn run(
    schedule: &Schedule,
    epochs: u64,
    interleaving: Interleaving,
) -> Result<Execution<'_>, CheckError> {
    drive(Execution::new(schedule, epochs), interleaving)
}

/// Takes an execution to its end.
pub fn drive(mut execution: Execution<'_>, interleaving: Interleaving) -> Result<Execution<'_>, CheckError> {
    match interleaving {
        Interleaving::Prompt => while prompt(&mut execution, None)? {},
        Interleaving::Late(late) => while prompt(&mut execution, Some(late))? || execution.advance(late)? {},
        Interleaving::LastFirst => loop {
            let moved = advance_all(&mut execution, None, false)?;
            match execution.in_flight.len() {
                0 if !moved => break,
                0 => {}
                n => execution.deliver(n - 1),
            }
        },
        Interleaving::Random(seed) => random(&mut execution, seed)?,
    }
    deliver_all(&mut execution);
    execution.deadlock().map_or(Ok(execution), Err)
}

fn deliver_all(execution: &mut Execution) {
    while let Some(last) = execution.in_flight.len().checked_sub(1) {
        execution.deliver(last);
    }
}

/// One pass over all ranks except `except`. Returns whether anything happened.
fn advance_all(
    execution: &mut Execution,
    except: Option<Rank>,
    deliver_at_once: bool,
) -> Result<bool, CheckError> {
    let mut moved = false;
    for rank in (0..execution.ranks()).map(Rank).filter(|r| Some(*r) != except) {
        while execution.advance(rank)? {
            moved = true;
            if deliver_at_once {
                deliver_all(execution);
            }
        }
    }
    Ok(moved)
}

fn prompt(execution: &mut Execution, except: Option<Rank>) -> Result<bool, CheckError> {
    deliver_all(execution);
    advance_all(execution, except, true)
}

fn random(execution: &mut Execution, seed: u64) -> Result<(), CheckError> {
    let mut random = Random::new(seed);
    loop {
        let in_flight = execution.in_flight.len();
        if in_flight > 0 && random.below(3) == 0 {
            execution.deliver(random.below(in_flight));
            continue;
        }
        let first = random.below(execution.ranks() as usize) as u32;
        let mut moved = false;
        for i in 0..execution.ranks() {
            if execution.advance(Rank((first + i) % execution.ranks()))? {
                moved = true;
                break;
            }
        }
        match in_flight {
            _ if moved => {}
            0 => return Ok(()),
            n => execution.deliver(random.below(n)),
        }
    }
}
