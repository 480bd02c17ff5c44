//! From state to state, where tables near today's cannot be reached in one go.

use super::{NoPlan, Plan, nearby_table, step_search::Search};
use crate::network::Network;
use crate::table::Table;
use evenkeel_random::Random;

/// How many times tables near those of the moment are aimed at. Of 100 failures and additions on 64 to
/// 256 switches two lose paths without.
const AIMS: u64 = 150;

/// Aims at tables near today's, goes as far towards them as can be, aims from there at others, and so
/// on. Each time what still has no path is given one by other turns, so that what stood in the way of
/// some destinations goes away bit by bit. The way there is then cut short where tables on it lead to
/// the last ones directly.
///
/// Nothing if there is more than one lane.
pub fn by_stages(
    network: &Network,
    today: &Table,
    improve: u32,
    random: &mut Random,
) -> Result<Option<Plan>, NoPlan> {
    let mut stages = vec![Search::new(network, today)?.run(0, today)?];
    for seed in 0..AIMS {
        let last = stages.last().expect("there is the first");
        if last.lost.is_empty() {
            break;
        }
        let from = Search::new(network, &last.end)?;
        let Some(order) = from.order() else { return Ok(None) };
        // Where none is found, the next seed may find one.
        let Some(aim) = nearby_table::near(network, &last.end, &order, seed) else { continue };
        let next = from.shuffled(random).run(0, &aim)?;
        if next.lost.len() <= last.lost.len() && !next.steps.is_empty() {
            stages.push(next);
        }
    }
    cut_short(network, today, &mut stages)?;
    let mut steps: Vec<_> = stages.iter_mut().flat_map(|stage| std::mem::take(&mut stage.steps)).collect();
    let end = stages.pop().expect("there is the first").end;
    let improved = Search::new(network, &end)?.run(improve, &end)?;
    steps.extend(improved.steps);
    Ok(Some(Plan { steps, ..improved }))
}

/// Leaves out what lies between the first tables that lead to the last ones directly, and these.
fn cut_short(network: &Network, today: &Table, stages: &mut Vec<Plan>) -> Result<(), NoPlan> {
    let aim = stages.last().expect("there is the first").end.clone();
    if stages.last().is_some_and(|last| !last.lost.is_empty()) {
        return Ok(());
    }
    for i in 0..stages.len() - 1 {
        let from = if i == 0 { today } else { &stages[i - 1].end };
        let direct = Search::new(network, from)?.run(0, &aim)?;
        if direct.lost.is_empty() {
            stages.truncate(i);
            stages.push(direct);
            break;
        }
    }
    Ok(())
}
