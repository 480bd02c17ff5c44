//! A plan carried out by OpenSM on a simulated network: does it set what the plan says, and what do the
//! judges say of what may be there on the way?

use crate::commands::route::command::{progress_bar, refuse};
use crate::commands::route::opensm::subnet::{OpenSm, SecondJudge};
use crate::errors::Failure;
use crate::output::file::write;
use evenkeel_route::check::{Fault, Traffic, check_traffic};
use evenkeel_route::format::lfts;
use evenkeel_route::plan::UpdateStep;
use evenkeel_route::{Network, Random, Table};
use serde::Serialize;
use std::time::Duration;

/// OpenSM on a network that ibsim plays answers within seconds, or not at all.
const LIMIT: Duration = Duration::from_secs(120);

/// What was seen of one set of tables.
#[derive(Debug, Serialize)]
pub struct State {
    /// The step that is under way, from 1.
    pub step: usize,
    /// How many of the step's entries have arrived, and out of how many. The rest stand as they were.
    pub arrived: usize,
    pub of: usize,
    /// Entries that OpenSM set otherwise.
    pub changed_by_opensm: usize,
    /// Whether packets can wait for each other in a ring, by evenkeel's checker; packets from and to
    /// switches count, too.
    pub cyclic: bool,
    /// The same by ibdmchk, of packets between end nodes; nothing where paths are missing, as it looks for
    /// no rings then, or if it is not installed.
    pub loops_by_ibdmchk: Option<bool>,
}

impl State {
    fn right(&self) -> bool {
        self.changed_by_opensm == 0 && !self.cyclic && self.loops_by_ibdmchk != Some(true)
    }
}

/// All that was looked at, in the order in which the switches of one simulated network got it.
#[derive(Debug, Serialize)]
pub struct Rehearsal {
    pub states: Vec<State>,
}

/// Has OpenSM set, on one simulated network and one after the other: today's tables, then for each step
/// `mixtures` random mixtures of old and new entries, then what stands when all of the step has
/// arrived.
///
/// # Errors
/// OpenSM or ibsim are missing or do not answer.
pub fn rehearse(
    network: &Network,
    today: &Table,
    steps: &[UpdateStep],
    mixtures: u32,
    random: &mut Random,
) -> Result<Rehearsal, Failure> {
    let opensm = OpenSm::find().map_err(|missing| {
        refuse(format!(
            "{missing}; install the Debian packages opensm and ibsim-utils, or leave --through-opensm out"
        ))
    })?;
    let directory = crate::commands::route::command::scratch()?;
    let simulated = opensm.simulate(network, directory.path(), LIMIT)?;
    let file = directory.path().join("tables.lfts");
    let lids =
        lfts::Lids::of(network).ok_or_else(|| refuse("there are more destinations than addresses".into()))?;
    let bar = progress_bar(steps.len() as u64);
    bar.set_message("OpenSM carries the plan out");
    let set = |table: &Table, step: usize, arrived: usize, of: usize| -> Result<State, Failure> {
        write(&file, &lfts::write(network, table, &lids))?;
        let sweep = simulated.sweep("file", Some(&file), true)?;
        let changed =
            |to| network.switch_ids().filter(|s| sweep.table.port(*s, to) != table.port(*s, to)).count();
        let faults = check_traffic(network, table, Traffic::Everything).faults;
        Ok(State {
            step,
            arrived,
            of,
            changed_by_opensm: table.destinations().map(changed).sum(),
            cyclic: faults.iter().any(|f| matches!(f, Fault::Cycle { .. })),
            loops_by_ibdmchk: sweep
                .ibdmchk
                .filter(|said| *said != SecondJudge::Incomplete)
                .map(|said| said == SecondJudge::Loops),
        })
    };
    let mut states = vec![set(today, 0, 0, 0)?];
    let mut before = today.clone();
    for (i, step) in steps.iter().enumerate() {
        let of = step.changes.len();
        for _ in 0..mixtures {
            let arrived = UpdateStep {
                changes: step.changes.iter().filter(|_| random.below(2) == 1).copied().collect(),
            };
            states.push(set(&arrived.applied(&before), i + 1, arrived.changes.len(), of)?);
        }
        before = step.applied(&before);
        states.push(set(&before, i + 1, of, of)?);
        bar.inc(1000);
    }
    bar.finish_and_clear();
    Ok(Rehearsal { states })
}

impl Rehearsal {
    /// OpenSM set all of it as it is, and neither judge finds a ring of waiting packets.
    pub fn right(&self) -> bool {
        self.states.iter().all(State::right)
    }

    /// In a sentence or two.
    pub fn said(&self) -> String {
        let count = |is: fn(&State) -> bool| self.states.iter().filter(|s| is(s)).count();
        let (all, judged, changed) =
            (self.states.len(), count(|s| s.loops_by_ibdmchk.is_some()), count(|s| s.changed_by_opensm > 0));
        let whole = self.states.last().map_or(0, |s| s.step + 1);
        let set = match changed {
            0 => format!(
                "OpenSM, on a simulated network, set {all} tables one after the other exactly as they are: today's, those of each step, and {} random mixtures of old and new entries.",
                all - whole
            ),
            n => format!("OpenSM, on a simulated network, set OTHER TABLES in {n} of {all} cases."),
        };
        let rings = |n: usize| {
            if n == 0 {
                "no ring of waiting packets".to_string()
            } else {
                format!("RINGS OF WAITING PACKETS in {n} of them")
            }
        };
        let ours = rings(count(|s| s.cyclic));
        let theirs = match judged {
            0 => "ibdmchk says nothing where paths are missing, or is not installed (Debian package ibutils)"
                .to_string(),
            n if n == all => format!("ibdmchk finds {}", rings(count(|s| s.loops_by_ibdmchk == Some(true)))),
            n => format!(
                "ibdmchk finds {} where it can tell: in the {n} that have all paths",
                rings(count(|s| s.loops_by_ibdmchk == Some(true)))
            ),
        };
        format!("{set} The checker finds {ours}; {theirs}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_state_is_enough_and_is_said() {
        let state = |step| State {
            step,
            arrived: 4,
            of: 4,
            changed_by_opensm: 0,
            cyclic: false,
            loops_by_ibdmchk: None,
        };
        let with = |wrong: State| Rehearsal {
            states: vec![state(0), wrong, State { loops_by_ibdmchk: Some(false), ..state(1) }],
        };
        let right = with(State { arrived: 2, ..state(1) });
        assert!(
            right.right()
                && right.said().contains("1 random mixtures")
                && right.said().contains("in the 1 that"),
            "{}",
            right.said()
        );
        for (wrong, said) in [
            (State { changed_by_opensm: 1, ..state(1) }, "OTHER TABLES in 1 of 3"),
            (State { cyclic: true, ..state(1) }, "checker finds RINGS"),
            (State { loops_by_ibdmchk: Some(true), ..state(1) }, "ibdmchk finds RINGS"),
        ] {
            let rehearsal = with(wrong);
            assert!(!rehearsal.right() && rehearsal.said().contains(said), "{}", rehearsal.said());
        }
    }
}
