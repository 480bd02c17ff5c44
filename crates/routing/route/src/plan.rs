//! Plans the way from current tables to new ones under traffic: steps of table updates that reach the
//! switches in any order.
//!
//! Cables or switches have failed or have been added. [`plan()`] takes the network as it is now, and the
//! tables that its switches still have, and returns [`UpdateStep`]s. Within a step, every entry may change
//! before or after any other. The next step begins when all switches have the entries of the last one, and
//! all packets that were forwarded by old entries have left the network. In each state that can occur,
//!
//! * switches that could reach a destination at the beginning of the step still can, without loops;
//! * the channel dependency graph has no cycle, including the dependencies of packets that came by old
//!   entries and continue by new ones, so that nothing can deadlock.
//!
//! After the last step all switches can reach all destinations that are connected with them. Traffic never
//! stops. Only necessary entries change: destinations that lost a path get one, and paths become shorter
//! where these rules allow it, which is how new cables come into use.
//!
//! [`prove()`] verifies a step independently of the search, and shares no code with it. It takes the tables
//! before and after the step and considers all orders of arrival at once: in the meantime a switch may use
//! the old or the new entry.
//!
//! May use: networks, tables, orders, schemes. Must never: stop traffic, or use the search to prove a step.

mod intermediate;
mod nearby_table;
mod prove;
mod step_search;
mod update;

pub use prove::{StepError, prove};
pub use update::{EntryChange, PlanError, UpdatePlan, UpdateStep};

use crate::network::{Network, SwitchId};
use crate::order::ChannelOrder;
use crate::table::Table;
use crate::{schemes, tables};
use evenkeel_random::Random;
use intermediate::through_intermediate_tables;
use nearby_table::nearby_table;
use step_search::StepSearch;

/// How many random orders of the destinations are tried on the way to tables near the current ones. The first
/// destinations take turns that others then cannot have.
const SHUFFLES: usize = 4;

/// Plans the way from the `current` tables to tables in which all paths exist.
///
/// `current` has the entries that the switches have now, on the network as it is now: entries for ports
/// without a cable lead nowhere, and new destinations have none. After all paths exist, up to `improve`
/// steps make paths shorter.
///
/// If broken paths cannot be repaired without changing other entries, the search tries in turn: to move
/// entries towards tables near the current ones; to do so repeatedly, through intermediate tables; and to
/// move them towards each of `targets`, which are tables made from scratch.
///
/// About O(changes · dependencies).
///
/// # Errors
/// The current tables have a loop or can deadlock.
pub fn plan(
    network: &Network,
    current: &Table,
    improve: u32,
    targets: &[Table],
) -> Result<UpdatePlan, PlanError> {
    let search = StepSearch::new(network, current)?;
    let mut best = search.clone().run(improve, current)?;
    if best.missing_paths.is_empty() {
        return Ok(best);
    }
    let nearby = search.order().and_then(|order| nearby_table(network, current, &order, 1));
    let mut random = Random::new(1);
    for target in nearby.iter().cycle().take(SHUFFLES) {
        best = best.or(search.clone().shuffled(&mut random).run(improve, target)?);
        if best.missing_paths.is_empty() {
            return Ok(best);
        }
    }
    if let Some(found) = through_intermediate_tables(network, current, improve, &mut random)? {
        best = best.or(found);
    }
    for target in targets {
        if best.missing_paths.is_empty() {
            break;
        }
        best = best.or(search.clone().shuffled(&mut random).run(improve, target)?);
    }
    Ok(best)
}

/// Tables to use as targets: up*/down* tables of the depth-first tree and of breadth-first trees from eight
/// switches. They are not balanced much, so they are made quickly.
pub fn usual_targets(network: &Network) -> Vec<Table> {
    let effort = tables::BalanceEffort { rounds: 1, candidates: 0, ..tables::BalanceEffort::default() };
    let n = network.switches().len() as u32;
    let roots = (0..8).map(|i| SwitchId(i * n / 8));
    let orders = std::iter::once(schemes::depth_first_from(network, schemes::best_root(network)))
        .chain(roots.map(|r| schemes::breadth_first(network, r)));
    orders.map(|order| tables::balanced(network, &ChannelOrder::up_down(network, &order), effort)).collect()
}
