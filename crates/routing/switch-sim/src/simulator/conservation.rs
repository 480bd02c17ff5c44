//! Checks that the simulator neither loses nor duplicates phits and packets.

use super::contents::{Simulator, TrafficCount};
use crate::routing::Routing;
use thiserror::Error;

/// Phits or packets were lost or duplicated.
#[derive(Clone, Debug, Error, PartialEq)]
#[error(
    "the simulator lost or duplicated {what}: {created} were created, {found} are accounted for at \
     cycle {cycle}"
)]
pub struct ConservationError {
    /// "phits" or "packets".
    pub what: &'static str,
    /// How many were created.
    pub created: u64,
    /// How many were delivered, discarded, or are in the network.
    pub found: u64,
    /// When this was found.
    pub cycle: u64,
}

impl<R: Routing> Simulator<R> {
    /// Checks that every phit and every packet is accounted for.
    ///
    /// # Errors
    /// The simulator has a bug.
    pub fn check_conservation(&self) -> Result<(), ConservationError> {
        let present = TrafficCount {
            phits: self.buffers.iter().map(|b| u64::from(b.occupied)).sum(),
            packets: self.packets.count(),
        };
        let (created, delivered, discarded) = (self.created, self.delivered, self.discarded);
        let checks = [
            ("phits", created.phits, delivered.phits + discarded.phits + present.phits),
            ("packets", created.packets, delivered.packets + discarded.packets + present.packets),
        ];
        for (what, created, found) in checks {
            if created != found {
                return Err(ConservationError { what, created, found, cycle: self.now });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Parameters;
    use crate::routing::TableRouting;
    use crate::traffic::{Length, OpenLoop, Pattern, Traffic};
    use crate::wiring::Wiring;
    use evenkeel_route::SwitchId;

    #[test]
    fn a_lost_phit_is_noticed() {
        let wiring = Wiring::new(1, Vec::new(), vec![SwitchId(0); 3]);
        let mut simulator = Simulator::new(&wiring, Parameters::MYRINET, TableRouting::new(1, 3)).unwrap();
        let mut traffic = OpenLoop::new(
            Traffic { pattern: Pattern::Uniform, length: Length::Fixed(16), load: 0.3, copies: 1, seed: 1 },
            &wiring,
        );
        simulator.run(1000, &mut traffic).unwrap();
        let buffer = simulator.buffers.iter().position(|b| b.occupied > 0).expect("a phit is on its way");
        simulator.buffers[buffer].occupied -= 1;
        assert!(matches!(simulator.check_conservation(), Err(ConservationError { what: "phits", .. })));
    }
}
