//! What remains of a network after random cables and switches have failed.

use super::error::GenerateError;
use crate::network::{Channel, Network, SwitchId};
use evenkeel_random::Random;

/// How many cables and switches fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// Cables between switches.
    pub cables: usize,
    /// Switches. Their end nodes and cables fail with them.
    pub switches: usize,
}

const TRIES: u32 = 1000;

/// The network without random cables and switches. Choices that would disconnect it are drawn again.
///
/// # Errors
/// No choice out of 1000 left the network connected, or it has fewer cables or switches than should fail.
pub fn with_failures(network: &Network, failures: Failures, seed: u64) -> Result<Network, GenerateError> {
    let (cables, switches) = (network.channels() / 2, network.switches().len());
    if failures.cables > cables || failures.switches >= switches.max(1) {
        let need = format!(
            "more than {} switches and {} cables; there are {switches} and {cables}",
            failures.switches, failures.cables
        );
        return Err(GenerateError::Needs { what: "a network with these failures", need });
    }
    let random = &mut Random::new(seed);
    for _ in 0..TRIES {
        let failed: Vec<Channel> =
            some(cables, failures.cables, random).into_iter().map(|c| Channel(2 * c)).collect();
        let dead: Vec<SwitchId> =
            some(switches, failures.switches, random).into_iter().map(SwitchId).collect();
        let left = network.without(&failed, &dead);
        if left.is_connected() {
            return Ok(left);
        }
    }
    Err(GenerateError::NeverConnected { tries: TRIES })
}

/// Random numbers below `of`, all different.
fn some(of: usize, count: usize, random: &mut Random) -> Vec<u32> {
    let mut all: Vec<u32> = (0..of as u32).collect();
    random.shuffle(&mut all);
    all.truncate(count);
    all
}
