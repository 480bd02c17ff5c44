//! From today's tables to tomorrow's under traffic: steps of table updates that arrive at the switches
//! in any order.
//!
//! A network has changed: cables or switches are gone, or there are new ones. [`plan()`] takes the
//! network as it is now and the tables as they still stand in its switches, and gives [`Step`]s. Within
//! a step every entry may arrive before or after any other; the next step begins when the last has
//! arrived everywhere, and packets that were under way by what it replaced have left. In each state
//! that can arise so,
//!
//! * who could reach a destination at the beginning of the step still can, without going round in
//!   circles;
//! * channel dependencies are free of cycles, those of packets included that have come by old entries
//!   and go on by new ones, so nothing can deadlock;
//!
//! and after the last step all can reach all that are connected. Traffic never stops. Nothing is moved
//! that need not be: destinations that lost a path get one, and paths are shortened where that can be
//! done by the same rules, which is how new cables come to use.
//!
//! [`prove()`] judges a step by itself. It shares no code with the search: it takes tables before and
//! after, and looks at all orders of arrival at once, since what a switch may do for a destination in
//! the meantime is the old entry or the new one.

mod intermediate;
mod nearby_table;
mod prove;
mod step_search;

pub use prove::{Broken, prove};

use crate::network::{Network, Port, SwitchId};
use crate::order::ChannelOrder;
use crate::table::{Destination, Table};
use crate::{schemes, tables};
use evenkeel_random::Random;
use thiserror::Error;

/// One entry of a table that is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub at: SwitchId,
    pub to: Destination,
    pub port: Port,
}

/// Entries that may be replaced in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    pub changes: Vec<Change>,
}

impl Step {
    /// The tables when all of the step has arrived.
    pub fn applied(&self, before: &Table) -> Table {
        let mut after = before.clone();
        for change in &self.changes {
            after.set(change.at, change.to, Some(change.port));
        }
        after
    }
}

/// A way from tables to tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// The tables at the end.
    pub end: Table,
    /// Switches that have no path to a destination at the end although the network connects them: the
    /// search has failed for these.
    pub lost: Vec<(SwitchId, Destination)>,
}

impl Plan {
    /// Another plan, if that loses fewer paths.
    fn or(self, other: Plan) -> Plan {
        if other.lost.len() < self.lost.len() { other } else { self }
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoPlan {
    #[error(
        "today's tables can deadlock already, so that no state can be proved before they are replaced: {cycle}"
    )]
    Cyclic { cycle: String },
    #[error("today's tables send packets round in circles")]
    Loop,
}

/// How many random orders of the destinations are tried on the way to tables near today's. Who comes
/// first takes turns that others then cannot have.
const SHUFFLES: usize = 4;

/// Plans the way. If what is broken cannot be mended without moving entries that are not, these are
/// moved to where they are in tables near today's; where that does not do, from there on to tables near
/// those, and so on; and where that does not either, to where they are in tables made anew for the
/// network, `aims`, which are tried one after the other. `today` holds the entries that the switches
/// have now, on the network as it is now: entries of ports without a cable lead nowhere, destinations
/// that are new have none. `improve`: how many steps may be spent on shortening paths once all are
/// there.
///
/// About O(changes · dependencies).
///
/// # Errors
/// Tables that deadlock or loop already.
pub fn plan(network: &Network, today: &Table, improve: u32, aims: &[Table]) -> Result<Plan, NoPlan> {
    let first = step_search::Search::new(network, today)?;
    let mut best = first.clone().run(improve, today)?;
    if best.lost.is_empty() {
        return Ok(best);
    }
    let near = first.order().and_then(|order| nearby_table::near(network, today, &order, 1));
    let mut random = Random::new(1);
    for aim in near.iter().cycle().take(SHUFFLES) {
        best = best.or(first.clone().shuffled(&mut random).run(improve, aim)?);
        if best.lost.is_empty() {
            return Ok(best);
        }
    }
    if let Some(staged) = intermediate::by_stages(network, today, improve, &mut random)? {
        best = best.or(staged);
    }
    for aim in aims {
        if best.lost.is_empty() {
            break;
        }
        best = best.or(first.clone().shuffled(&mut random).run(improve, aim)?);
    }
    Ok(best)
}

/// Tables to aim at: by up*/down* from the depth-first tree and from breadth-first trees of some
/// switches, quickly made.
pub fn usual_aims(network: &Network) -> Vec<Table> {
    let effort = tables::Effort { rounds: 1, looks: 0, ..tables::Effort::default() };
    let n = network.switches().len() as u32;
    let roots = (0..8).map(|i| SwitchId(i * n / 8));
    let orders = std::iter::once(schemes::depth_first_from(network, schemes::best_root(network)))
        .chain(roots.map(|r| schemes::breadth_first(network, r)));
    orders.map(|order| tables::balanced(network, &ChannelOrder::up_down(network, &order), effort)).collect()
}
