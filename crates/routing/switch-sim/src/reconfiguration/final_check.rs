//! Checks what must hold when a reconfiguration is over.

use super::directed_graph::{DirectedGraph, UNREACHABLE};
use super::link_direction::LinkDirection;
use super::switch_tables::SwitchTables;
use super::topology_snapshot::TopologySnapshot;
use std::rc::Rc;
use thiserror::Error;

/// What does not hold after a reconfiguration.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FinalCheckError {
    /// A connected part has not exactly one root.
    #[error("{roots} roots are left in the part of switch {switch}")]
    SeveralRoots {
        /// A switch of that part.
        switch: u32,
        /// Its number of roots.
        roots: usize,
    },
    /// The adaptive tables of a switch were not made from the final topology.
    #[error("the adaptive tables of switch {switch} are old")]
    OldTables {
        /// The switch.
        switch: u32,
    },
    /// A switch has no escape path to another.
    #[error("switch {from} has no escape path to switch {to}")]
    NoEscapePath {
        /// The switch.
        from: u32,
        /// The other switch.
        to: u32,
    },
    /// The two ends of a link disagree about its direction, or one takes it for failed.
    #[error("the ends of link {link} disagree")]
    EndsDisagree {
        /// The link.
        link: usize,
    },
    /// Hosts of a switch may not inject packets.
    #[error("injection is still stopped at switch {switch}")]
    InjectionStopped {
        /// The switch.
        switch: usize,
    },
}

/// Checks tables against the final graph, and against the snapshot from which they should have been made.
pub(super) fn check_tables(
    graph: &DirectedGraph,
    tables: &SwitchTables,
    target: &Rc<TopologySnapshot>,
) -> Result<(), FinalCheckError> {
    for root in graph.roots() {
        let part = graph.component(root);
        let roots = graph.roots().into_iter().filter(|r| part.contains(r)).count();
        if roots != 1 {
            return Err(FinalCheckError::SeveralRoots { switch: root, roots });
        }
        for a in &part {
            if tables.minimal[*a as usize].as_ref().is_none_or(|known| !Rc::ptr_eq(known, target)) {
                return Err(FinalCheckError::OldTables { switch: *a });
            }
            for b in part.iter().filter(|b| *b != a) {
                let is_unreachable = target.escape[*b as usize][0][*a as usize] == UNREACHABLE;
                if is_unreachable || tables.escape_channel(*a, None, *b).is_none() {
                    return Err(FinalCheckError::NoEscapePath { from: *a, to: *b });
                }
            }
        }
    }
    for channel in (0..tables.direction.len()).filter(|c| graph.works(*c as u32 / 2)) {
        let (a, b) = graph.links[channel / 2];
        let from = if channel % 2 == 0 { a } else { b };
        let leads_up = graph.leads_up(channel as u32 / 2, from);
        let expected = if leads_up { LinkDirection::Up } else { LinkDirection::Down };
        if tables.direction[channel] != expected || !tables.works[channel] {
            return Err(FinalCheckError::EndsDisagree { link: channel / 2 });
        }
    }
    Ok(())
}
