//! A rehearsal: OpenSM carries the plan out on a simulated network. Does it set what the plan says, and what
//! do the checkers find in the tables that may exist on the way?

use crate::commands::route::network_file;
use crate::commands::route::opensm::{CreditLoops, OpenSm, SWEEP_LIMIT, SweepRequest, scratch_directory};
use crate::errors::{CommandError, RouteReason};
use crate::output::file;
use crate::output::progress::Progress;
use evenkeel_route::check::{Fault, Traffic, check_traffic};
use evenkeel_route::plan::UpdateStep;
use evenkeel_route::{Network, Random, Table};
use serde::Serialize;

/// One set of tables that was set and checked.
#[derive(Debug, Serialize)]
pub struct RehearsedTables {
    /// The step that is under way, from 1; 0 for the current tables.
    pub step: usize,
    /// How many of the step's entries have arrived. The rest are as they were.
    pub arrived: usize,
    /// How many entries the step has.
    pub of: usize,
    /// Entries that OpenSM set otherwise.
    pub changed_by_opensm: usize,
    /// Whether packets can wait for each other in a ring, by evenkeel's checker; packets from and to switches
    /// count too.
    pub cyclic: bool,
    /// The same by ibdmchk, for packets between end nodes. None where paths are missing, because ibdmchk does
    /// not search for rings then, or if it is not installed.
    pub loops_by_ibdmchk: Option<bool>,
}

impl RehearsedTables {
    fn is_right(&self) -> bool {
        self.changed_by_opensm == 0 && !self.cyclic && self.loops_by_ibdmchk != Some(true)
    }
}

/// All tables, in the order in which the switches of one simulated network got them.
#[derive(Debug, Serialize)]
pub struct Rehearsal {
    /// The tables.
    pub states: Vec<RehearsedTables>,
}

/// Has OpenSM set, on one simulated network and one after the other: the current tables, then for each step
/// `mixtures` random mixtures of old and new entries, and the tables after the step.
///
/// # Errors
/// OpenSM or ibsim are missing or do not answer.
pub fn rehearse(
    network: &Network,
    today: &Table,
    steps: &[UpdateStep],
    mixtures: u32,
    random: &mut Random,
) -> Result<Rehearsal, CommandError> {
    let opensm = OpenSm::find()
        .map_err(|missing| RouteReason::OpenSmNeeded { missing, without: "leave --through-opensm out" })?;
    let directory = scratch_directory()?;
    let subnet = opensm.simulate(network, directory.path(), SWEEP_LIMIT).map_err(RouteReason::from)?;
    let tables_file = directory.path().join("tables.lfts");
    let progress = Progress::new("OpenSM carries the plan out", steps.len());
    let set = |table: &Table, step: usize, arrived: usize, of: usize| {
        file::write(&tables_file, &network_file::tables_text(network, table)?)?;
        let request = SweepRequest { engine: "file", tables: Some(&tables_file), with_ibdmchk: true };
        let sweep = subnet.sweep(request).map_err(RouteReason::from)?;
        let faults = check_traffic(network, table, Traffic::Everything).faults;
        let loops = sweep.ibdmchk.filter(|found| *found != CreditLoops::Unknown);
        Ok::<_, CommandError>(RehearsedTables {
            step,
            arrived,
            of,
            changed_by_opensm: sweep.entries_that_differ_from(network, table),
            cyclic: faults.iter().any(|fault| matches!(fault, Fault::Cycle { .. })),
            loops_by_ibdmchk: loops.map(|found| found == CreditLoops::Found),
        })
    };
    let mut states = vec![set(today, 0, 0, 0)?];
    let mut before = today.clone();
    for (at, step) in steps.iter().enumerate() {
        let of = step.changes.len();
        for _ in 0..mixtures {
            let arrived = step.changes.iter().filter(|_| random.below(2) == 1).copied().collect();
            let arrived = UpdateStep { changes: arrived };
            states.push(set(&arrived.applied(&before), at + 1, arrived.changes.len(), of)?);
        }
        before = step.applied(&before);
        states.push(set(&before, at + 1, of, of)?);
        progress.finish_task();
    }
    Ok(Rehearsal { states })
}

impl Rehearsal {
    /// Whether OpenSM set everything as it is, and no checker finds a ring of waiting packets.
    pub fn is_right(&self) -> bool {
        self.states.iter().all(RehearsedTables::is_right)
    }

    /// A sentence or two for people.
    pub fn describe(&self) -> String {
        let count = |is: fn(&RehearsedTables) -> bool| self.states.iter().filter(|state| is(state)).count();
        let all = self.states.len();
        let whole = self.states.last().map_or(0, |state| state.step + 1);
        let set = match count(|state| state.changed_by_opensm > 0) {
            0 => format!(
                "OpenSM, on a simulated network, set {all} tables one after the other exactly as they are: \
                 the current ones, those of each step, and {} random mixtures of old and new entries.",
                all - whole
            ),
            n => format!("OpenSM, on a simulated network, set OTHER TABLES in {n} of {all} cases."),
        };
        let rings = |n: usize| match n {
            0 => "no ring of waiting packets".to_string(),
            n => format!("RINGS OF WAITING PACKETS in {n} of them"),
        };
        let ours = rings(count(|state| state.cyclic));
        let by_ibdmchk = rings(count(|state| state.loops_by_ibdmchk == Some(true)));
        let theirs = match count(|state| state.loops_by_ibdmchk.is_some()) {
            0 => "ibdmchk cannot tell where paths are missing, or is not installed (Debian package ibutils)"
                .into(),
            n if n == all => format!("ibdmchk finds {by_ibdmchk}"),
            n => format!("ibdmchk finds {by_ibdmchk} where it can tell: in the {n} that have all paths"),
        };
        format!("{set} The checker finds {ours}; {theirs}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_table_is_enough_and_is_named() {
        let tables = |step| RehearsedTables {
            step,
            arrived: 4,
            of: 4,
            changed_by_opensm: 0,
            cyclic: false,
            loops_by_ibdmchk: None,
        };
        let with = |wrong: RehearsedTables| Rehearsal {
            states: vec![tables(0), wrong, RehearsedTables { loops_by_ibdmchk: Some(false), ..tables(1) }],
        };
        let right = with(RehearsedTables { arrived: 2, ..tables(1) });
        let text = right.describe();
        assert!(
            right.is_right() && text.contains("1 random mixtures") && text.contains("in the 1 that"),
            "{text}"
        );
        for (wrong, words) in [
            (RehearsedTables { changed_by_opensm: 1, ..tables(1) }, "OTHER TABLES in 1 of 3"),
            (RehearsedTables { cyclic: true, ..tables(1) }, "checker finds RINGS"),
            (RehearsedTables { loops_by_ibdmchk: Some(true), ..tables(1) }, "ibdmchk finds RINGS"),
        ] {
            let rehearsal = with(wrong);
            let text = rehearsal.describe();
            assert!(!rehearsal.is_right() && text.contains(words), "{text}");
        }
    }
}
