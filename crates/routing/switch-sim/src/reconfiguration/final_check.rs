//! What must hold when a reconfiguration is over.

use super::directed_graph::{Directed, FAR};
use super::switch_tables::{Knowledge, View, Views};
use crate::simulator::Halt;
use std::rc::Rc;
use thiserror::Error;

/// Why a reconfiguration did not come right.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Failed {
    #[error(transparent)]
    Halt(#[from] Halt),
    #[error("at cycle {0} escape channels may wait in a circle")]
    Circle(u64),
    #[error("in the end {0}")]
    End(String),
}

/// What must hold in the end.
pub fn judge(graph: &Directed, views: &Views, target: &Rc<Knowledge>) -> Result<(), Failed> {
    let wrong = |what: String| Err(Failed::End(what));
    for root in graph.roots() {
        let part = graph.component(root);
        let roots = graph.roots().into_iter().filter(|r| part.contains(r)).count();
        if roots != 1 {
            return wrong(format!("{roots} roots are left in the part of switch {root}"));
        }
        for a in &part {
            if views.minimal[*a as usize].as_ref().is_none_or(|k| !Rc::ptr_eq(k, target)) {
                return wrong(format!("the adaptive tables of switch {a} are old"));
            }
            for b in part.iter().filter(|b| *b != a) {
                if target.escape[*b as usize][0][*a as usize] == FAR || views.escape(*a, None, *b).is_none() {
                    return wrong(format!("switch {a} has no way to escape to {b}"));
                }
            }
        }
    }
    for (channel, view) in views.view.iter().enumerate().filter(|(c, _)| graph.works(*c as u32 / 2)) {
        let (a, b) = graph.links[channel / 2];
        let expected = if graph.leads_up(channel as u32 / 2, if channel % 2 == 0 { a } else { b }) {
            View::Up
        } else {
            View::Down
        };
        if *view != expected || !views.works[channel] {
            return wrong(format!("the ends of link {} disagree", channel / 2));
        }
    }
    Ok(())
}
