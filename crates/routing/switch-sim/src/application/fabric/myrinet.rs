//! Myrinet: wormhole switches in a torus.

use crate::parameters::{Parameters, Switching};
use crate::routing::SourceRouting;
use crate::simulator::Simulator;
use crate::wiring::{ChannelId, Wiring};
use evenkeel_route::{ChannelOrder, Network, Random, SourceRoutes, generate, schemes};

/// A tick is a cycle: half of the time of a byte at 1.28 Gb/s.
pub(super) const TICK_NS: f64 = 3.125;
const CYCLES_PER_BYTE: u32 = 2;

/// One byte takes 388 ns through one switch, and 240.5 ns more for each further switch. So a head takes 30
/// cycles in a switch, and a link 47. Messages of 2 KB to the same host follow each other at intervals of
/// 12.995 µs. That is 195 ns, or 62 cycles, more than the time of their bytes.
const PARAMETERS: Parameters = Parameters {
    switching: Switching::Wormhole,
    lanes: 1,
    buffer_phits: 80,
    header_cycles: 30,
    arbiter_cycles: 1,
    link_cycles: 47,
    gap_cycles: 62,
};

/// The simulator of the fabric.
///
/// The paper does not say which paths it uses. These are up*/down* paths of a breadth-first tree, as in
/// Myrinet, and a packet takes whichever of two parallel cables is free. Minimal paths in dimension order
/// deadlock here.
pub(super) fn simulator(seed: u64) -> Simulator<SourceRouting> {
    let network = torus();
    let order =
        ChannelOrder::up_down(&network, &schemes::breadth_first(&network, schemes::best_root(&network)));
    let routes = SourceRoutes::shortest(&network, &order, &mut Random::new(seed));
    let wiring = Wiring::of(&network);
    on_myrinet(&wiring, SourceRouting::of(&network, &routes).any_cable(&wiring))
}

fn torus() -> Network {
    let shape = generate::Torus { sizes: vec![8, 4], wrapped: true, cables: 2, end_nodes: 8 };
    generate::torus(&shape).expect("a valid torus")
}

fn on_myrinet(wiring: &Wiring, routing: SourceRouting) -> Simulator<SourceRouting> {
    let mut simulator = Simulator::new(wiring, PARAMETERS, routing).expect("valid parameters");
    (0..wiring.channels()).for_each(|c| simulator.set_period(ChannelId(c), CYCLES_PER_BYTE));
    simulator
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::application_core::ApplicationCore;
    use crate::application::fabric::{Fabric, paper_parameters};
    use crate::application::{phit_network, program::Program};
    use crate::simulator::SimulationError;
    use crate::wiring::Node;
    use evenkeel_route::SwitchId;

    #[test]
    fn minimal_paths_in_dimension_order_deadlock_on_the_torus() {
        let network = torus();
        let wiring = Wiring::of(&network);
        // One step along the shorter side of a ring.
        let step = |at: u32, to: u32, size: u32| match (to + size - at) % size {
            0 => at,
            distance if 2 * distance <= size => (at + 1) % size,
            _ => (at + size - 1) % size,
        };
        let path = |from: SwitchId, to: SwitchId| {
            let (mut path, mut at) = (Vec::new(), from.0);
            while at != to.0 {
                let x = step(at % 8, to.0 % 8, 8);
                let y = if x == at % 8 { step(at / 8, to.0 / 8, 4) } else { at / 8 };
                let next = y * 8 + x;
                let leads_there = |c: &&ChannelId| wiring.to(**c) == Node::Switch(SwitchId(next));
                path.push(
                    *wiring.leaving(SwitchId(at)).iter().find(leads_there).expect("neighbours are joined"),
                );
                at = next;
            }
            path
        };
        let mut simulator = on_myrinet(&wiring, SourceRouting::new(&wiring, path).any_cable(&wiring));
        let mut program = Program::new(paper_parameters(Fabric::Myrinet, ApplicationCore::Torus, 2048));
        let result = phit_network::run(&mut simulator, &mut program);
        assert!(matches!(result, Err(SimulationError::Deadlock(_))), "{result:?}");
    }
}
