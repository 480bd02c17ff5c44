//! Every order in which the events of whole protocols may happen on a tiny network, with a further
//! change at any moment.
//!
//! Messages of a channel arrive in order; nothing else is promised, so any message may be late, which
//! is also all that losing one and sending it again can do. Packets are left out: they move by the
//! tables alone, whose dependencies are looked at after every event.

use super::control_network::Event;
use super::diffusing_computation::Spread;
use super::directed_graph::Directed;
use super::final_check::judge;
use super::protocol::{Ground, Run, State, What, Word, carrier, make};
use super::switch_tables::{Knowledge, View, Views};
use super::{Change, Method, Settings};
use crate::wiring::Wiring;
use std::collections::HashSet;
use std::rc::Rc;

/// What goes wrong on purpose, to see that it is noticed. [`super::link_reversal::explore`] has mistakes in
/// reversing links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// Messages to the switch with the highest number are lost and not sent again.
    Lost,
    /// Switches that join a static reconfiguration keep their tables.
    KeepTables,
}

/// What there is beside the protocols.
#[derive(Clone)]
struct Scene {
    views: Views,
    /// In the order in which they were sent.
    pending: Vec<Event<Word>>,
    stopped: Vec<bool>,
    mistake: Mistake,
}

impl Ground for Scene {
    fn views(&mut self) -> &mut Views {
        &mut self.views
    }

    fn send(&mut self, _channel: usize, from: u32, at: u32, _phits: u32, what: Word) {
        if self.mistake != Mistake::Lost || at as usize + 1 < self.stopped.len() {
            self.pending.push(Event { at, from, what });
        }
    }

    fn after(&mut self, _cycles: u64, at: u32, what: Word) {
        self.pending.push(Event { at, from: at, what });
    }

    fn clear(&mut self, _s: u32) {}

    fn inject(&mut self, s: u32, allowed: bool) {
        self.stopped[s as usize] = !allowed;
    }
}

#[derive(Clone)]
struct World {
    scene: Scene,
    graph: Directed,
    runs: Vec<Run>,
}

/// By switch what its three tables were made from: nothing, the target of a run, or what was there before.
type Tables = Vec<[u8; 3]>;

/// What tells one world from another.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    runs: Vec<(Vec<bool>, Spread, State)>,
    view: Vec<View>,
    tables: Tables,
    pending: Vec<Event<Word>>,
    stopped: Vec<bool>,
}

impl World {
    fn key(&self) -> Key {
        let made_from = |k: &Option<Rc<Knowledge>>| match k {
            None => 0,
            Some(k) => {
                self.runs.iter().position(|r| Rc::ptr_eq(&r.target, k)).map_or(u8::MAX, |i| i as u8 + 1)
            }
        };
        let views = &self.scene.views;
        let tables = (0..self.graph.size() as usize)
            .map(|s| [&views.minimal[s], &views.escape[s], &views.before[s]].map(made_from))
            .collect();
        let mut pending = self.scene.pending.clone();
        // Only the order within a channel matters; timers of a switch have none.
        pending.sort_by_key(|e| (e.from, e.at, (e.from == e.at).then_some(e.what)));
        let run = |r: &Run| {
            let mut spread = r.spread.clone();
            spread.children.iter_mut().for_each(|c| c.sort_unstable());
            (r.graph.second_is_up.clone(), spread, r.state.clone())
        };
        Key {
            runs: self.runs.iter().map(run).collect(),
            view: views.view.clone(),
            tables,
            pending,
            stopped: self.scene.stopped.clone(),
        }
    }

    fn change(&mut self, change: Change, method: Method) {
        let neighbours = make(change, &mut self.graph);
        carrier(change, &self.graph, &mut self.scene.views);
        let how = if self.scene.pending.is_empty() { method } else { Method::Static };
        let run = Run::begin(
            &mut self.scene,
            self.runs.len() as u8,
            &self.graph,
            change,
            &neighbours,
            how,
            Settings::USUAL,
        );
        self.runs.push(run);
    }

    /// One of the pending events happens.
    fn happen(&mut self, place: usize) {
        let Event { at, from, what: (epoch, what) } = self.scene.pending.remove(place);
        let (earlier, later) = self.runs.split_at_mut(usize::from(epoch) + 1);
        if !self.graph.alive[at as usize] || later.iter().any(|r| r.spread.joined[at as usize]) {
            return;
        }
        let run = &mut earlier[usize::from(epoch)];
        let s = at as usize;
        let before = (self.scene.views.minimal[s].clone(), self.scene.views.escape[s].clone());
        run.handle(&mut self.scene, Event { at, from, what });
        if later.is_empty() {
            self.graph.second_is_up.clone_from(&run.graph.second_is_up);
        }
        if self.scene.mistake == Mistake::KeepTables && what == What::Join {
            (self.scene.views.minimal[s], self.scene.views.escape[s]) = before;
        }
    }

    /// What must hold after every event.
    fn holds(&self) -> Result<(), String> {
        let views = &self.scene.views;
        if !views.escape_is_acyclic(&self.graph.alive) {
            return Err("escape channels may wait in a circle".into());
        }
        if self.runs.len() == 1 && self.runs[0].is_dynamic() && self.scene.stopped.contains(&true) {
            return Err("injection is stopped".into());
        }
        if (0..views.works.len()).any(|c| views.works[c] && !self.graph.works(c as u32 / 2)) {
            return Err("a table may offer a dead channel".into());
        }
        Ok(())
    }

    /// What must hold when nothing is left to happen.
    fn ends(&self) -> Result<(), String> {
        let run = self.runs.last().expect("something has changed");
        if (0..self.graph.alive.len()).any(|s| self.graph.alive[s] && self.scene.stopped[s]) {
            return Err("injection is still stopped in the end".into());
        }
        judge(&run.graph, &self.scene.views, &run.target).map_err(|e| e.to_string())
    }
}

/// Tries every order of events of a protocol after the first change, with the other changes at any
/// moments, in their order. Returns the number of states.
///
/// # Errors
/// An invariant that did not hold, and what was pending then; or more than `most` states.
pub fn explore(
    wiring: &Wiring,
    graph: &Directed,
    changes: &[Change],
    method: Method,
    mistake: Mistake,
    most: usize,
) -> Result<usize, String> {
    let mut views = Views::new(wiring, graph);
    views.changing = true;
    let scene = Scene { views, pending: Vec::new(), stopped: vec![false; graph.alive.len()], mistake };
    let mut first = World { scene, graph: graph.clone(), runs: Vec::new() };
    first.change(changes[0], method);
    let mut seen = HashSet::new();
    let mut open = vec![first];
    while let Some(world) = open.pop() {
        if !seen.insert(world.key()) {
            continue;
        }
        if seen.len() > most {
            return Err(format!("more than {most} states"));
        }
        let left = changes.get(world.runs.len());
        let pending = &world.scene.pending;
        world
            .holds()
            .and_then(|()| if left.is_none() && pending.is_empty() { world.ends() } else { Ok(()) })
            .map_err(|e| format!("{e}; pending: {pending:?}"))?;
        if let Some(change) = left {
            let mut next = world.clone();
            next.change(*change, method);
            open.push(next);
        }
        for (place, event) in pending.iter().enumerate() {
            let first = event.from == event.at
                || !pending[..place].iter().any(|e| (e.from, e.at) == (event.from, event.at));
            if first {
                let mut next = world.clone();
                next.happen(place);
                open.push(next);
            }
        }
    }
    Ok(seen.len())
}
