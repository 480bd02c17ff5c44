//! What is left of a network when random cables and switches have failed.

use super::Impossible;
use crate::network::{Channel, Network, SwitchId};
use evenkeel_random::Random;

/// How much fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Cables between switches.
    pub cables: usize,
    /// Switches; their end nodes and cables are gone with them.
    pub switches: usize,
}

const TRIES: u32 = 1000;

/// The network without random cables and switches, still connected: choices that would cut it in pieces
/// are drawn again.
///
/// # Errors
/// No connected network in 1000 draws, or fewer cables or switches than are to fail.
pub fn with_faults(network: &Network, faults: Faults, seed: u64) -> Result<Network, Impossible> {
    let (cables, switches) = (network.channels() / 2, network.switches().len());
    if faults.cables > cables || faults.switches >= switches.max(1) {
        let need = format!(
            "more than {} switches and {} cables; there are {switches} and {cables}",
            faults.switches, faults.cables
        );
        return Err(Impossible::Needs { what: "a network with these faults", need });
    }
    let random = &mut Random::new(seed);
    for _ in 0..TRIES {
        let gone: Vec<Channel> =
            some(cables, faults.cables, random).into_iter().map(|c| Channel(2 * c)).collect();
        let dead: Vec<SwitchId> = some(switches, faults.switches, random).into_iter().map(SwitchId).collect();
        let left = network.without(&gone, &dead);
        if left.connected() {
            return Ok(left);
        }
    }
    Err(Impossible::NeverConnected { tries: TRIES })
}

/// Different numbers below `of`.
fn some(of: usize, count: usize, random: &mut Random) -> Vec<u32> {
    let mut all: Vec<u32> = (0..of as u32).collect();
    random.shuffle(&mut all);
    all.truncate(count);
    all
}
