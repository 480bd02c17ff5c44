//! Plans through intermediate tables, for tables near the current ones that one search cannot reach.

use super::nearby_table::nearby_table;
use super::step_search::StepSearch;
use super::update::{PlanError, UpdatePlan};
use crate::network::Network;
use crate::table::Table;
use evenkeel_random::Random;

/// How many times tables near the last ones are tried as a target. Without this, 2 of 100 failures and
/// additions on 64 to 256 switches lose paths.
const TARGETS: u64 = 150;

/// Moves entries towards tables near the current ones as far as possible, from there towards other tables,
/// and so on.
///
/// Each time, missing paths are tried with other turns, so that what prevents them disappears bit by bit.
/// In the end, intermediate tables are left out if an earlier table leads to the last one directly.
///
/// `None` if there are several virtual lanes.
pub(super) fn through_intermediate_tables(
    network: &Network,
    current: &Table,
    improve: u32,
    random: &mut Random,
) -> Result<Option<UpdatePlan>, PlanError> {
    let mut parts = vec![StepSearch::new(network, current)?.run(0, current)?];
    for seed in 0..TARGETS {
        let last = parts.last().expect("there is a first part");
        if last.missing_paths.is_empty() {
            break;
        }
        let search = StepSearch::new(network, &last.end)?;
        let Some(order) = search.order() else { return Ok(None) };
        let Some(target) = nearby_table(network, &last.end, &order, seed) else { continue };
        let next = search.shuffled(random).run(0, &target)?;
        if next.missing_paths.len() <= last.missing_paths.len() && !next.steps.is_empty() {
            parts.push(next);
        }
    }
    leave_out_detours(network, current, &mut parts)?;
    let mut steps: Vec<_> = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.steps)).collect();
    let end = parts.pop().expect("there is a first part").end;
    let improved = StepSearch::new(network, &end)?.run(improve, &end)?;
    steps.extend(improved.steps);
    Ok(Some(UpdatePlan { steps, ..improved }))
}

/// Finds the first tables from which one search reaches the last ones, and replaces all parts between them.
fn leave_out_detours(
    network: &Network,
    current: &Table,
    parts: &mut Vec<UpdatePlan>,
) -> Result<(), PlanError> {
    let last = parts.last().expect("there is a first part");
    if !last.missing_paths.is_empty() {
        return Ok(());
    }
    let target = last.end.clone();
    for i in 0..parts.len() - 1 {
        let from = if i == 0 { current } else { &parts[i - 1].end };
        let direct = StepSearch::new(network, from)?.run(0, &target)?;
        if direct.missing_paths.is_empty() {
            parts.truncate(i);
            parts.push(direct);
            break;
        }
    }
    Ok(())
}
