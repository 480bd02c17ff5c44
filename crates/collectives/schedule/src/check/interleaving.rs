//! In which order things happen in a run.

use super::error::CheckError;
use super::execution::Execution;
use crate::schedule::Schedule;
use crate::step::Rank;
use evenkeel_random::Random;

/// Who goes next, and when messages arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interleaving {
    /// Every rank goes as far as it can; messages arrive at once.
    Prompt,
    /// This rank does something only when nobody else can.
    Late(Rank),
    /// Messages arrive only when nobody can do anything, one by one, the last sent first.
    LastFirst,
    /// Ranks and messages in an order drawn from this seed.
    Random(u64),
}

/// Runs a schedule for some epochs, 3 or more to see every bank used again. Returns the machine at the
/// end, or what is wrong.
pub fn run(schedule: &Schedule, epochs: u64, driver: Interleaving) -> Result<Execution<'_>, CheckError> {
    drive(Execution::new(schedule, epochs), driver)
}

/// Runs a machine to its end.
pub fn drive(mut machine: Execution<'_>, driver: Interleaving) -> Result<Execution<'_>, CheckError> {
    match driver {
        Interleaving::Prompt => while prompt(&mut machine, None)? {},
        Interleaving::Late(late) => while prompt(&mut machine, Some(late))? || machine.advance(late)? {},
        Interleaving::LastFirst => loop {
            let moved = everybody(&mut machine, None, false)?;
            match machine.in_flight.len() {
                0 if !moved => break,
                0 => {}
                n => machine.deliver(n - 1),
            }
        },
        Interleaving::Random(seed) => random(&mut machine, seed)?,
    }
    deliver_all(&mut machine);
    machine.deadlock().map_or(Ok(machine), Err)
}

fn deliver_all(machine: &mut Execution) {
    while let Some(last) = machine.in_flight.len().checked_sub(1) {
        machine.deliver(last);
    }
}

/// One pass over all ranks but one; whether anything happened.
fn everybody(machine: &mut Execution, but: Option<Rank>, at_once: bool) -> Result<bool, CheckError> {
    let mut moved = false;
    for rank in (0..machine.ranks()).map(Rank).filter(|r| Some(*r) != but) {
        while machine.advance(rank)? {
            moved = true;
            if at_once {
                deliver_all(machine);
            }
        }
    }
    Ok(moved)
}

fn prompt(machine: &mut Execution, but: Option<Rank>) -> Result<bool, CheckError> {
    deliver_all(machine);
    everybody(machine, but, true)
}

fn random(machine: &mut Execution, seed: u64) -> Result<(), CheckError> {
    let mut random = Random::new(seed);
    loop {
        let flying = machine.in_flight.len();
        if flying > 0 && random.below(3) == 0 {
            machine.deliver(random.below(flying));
            continue;
        }
        let first = random.below(machine.ranks() as usize) as u32;
        let mut moved = false;
        for i in 0..machine.ranks() {
            if machine.advance(Rank((first + i) % machine.ranks()))? {
                moved = true;
                break;
            }
        }
        match flying {
            _ if moved => {}
            0 => return Ok(()),
            n => machine.deliver(random.below(n)),
        }
    }
}
