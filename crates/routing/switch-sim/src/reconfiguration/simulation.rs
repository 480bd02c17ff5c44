//! Protocols at work in the time of the simulator, among packets.

use super::control_network::{Courier, Event};
use super::directed_graph::Directed;
use super::final_check::{Failed, judge};
use super::protocol::{Ground, Run, Word, carrier, make};
use super::switch_tables::Views;
use super::{Change, Method, Settings};
use crate::simulator::{Simulator, Workload};
use crate::wiring::ChannelId;
use evenkeel_route::{EndNodeId, SwitchId};
use serde::Serialize;

/// What changes have cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// From the first change until all tables were up to date.
    pub cycles: u64,
    /// Packets taken out because of the protocol: not those of the next two kinds.
    pub discarded: u64,
    /// Packets that the changes themselves took with them: those in the switches or on their channels.
    pub hit: u64,
    /// Packets for hosts at a switch that has gone, or has not been heard of yet.
    pub addressed: u64,
    /// Cycles in which a host might not inject, over all hosts.
    pub stopped: u64,
    pub messages: u64,
    pub phits: u64,
}

/// The simulator as what a protocol stands on.
struct Live<'a> {
    simulator: &'a mut Simulator<Views>,
    courier: Courier<Word>,
    stopped_since: Vec<Option<u64>>,
    stopped: u64,
}

impl Ground for Live<'_> {
    fn views(&mut self) -> &mut Views {
        &mut self.simulator.routing
    }

    fn send(&mut self, channel: usize, from: u32, at: u32, phits: u32, word: Word) {
        // Who is sent something by a switch that has not heard of its end does not get it.
        if !self.simulator.is_dead(ChannelId(channel as u32)) {
            self.courier.send(self.simulator, channel, from, at, phits, word);
        }
    }

    fn after(&mut self, cycles: u64, at: u32, word: Word) {
        self.courier.after(self.simulator.now(), cycles, at, word);
    }

    fn clear(&mut self, s: u32) {
        self.simulator.clear(SwitchId(s));
    }

    fn inject(&mut self, s: u32, allowed: bool) {
        let hosts: Vec<EndNodeId> = (0..self.simulator.wiring().hosts())
            .map(EndNodeId)
            .filter(|h| self.simulator.wiring().home(*h) == SwitchId(s))
            .collect();
        let now = self.simulator.now();
        let since = &mut self.stopped_since[s as usize];
        match (allowed, *since) {
            (true, Some(begun)) => {
                self.stopped += (now - begun) * hosts.len() as u64;
                *since = None;
            }
            (false, None) => *since = Some(now),
            _ => {}
        }
        hosts.into_iter().for_each(|h| self.simulator.allow_injection(h, allowed));
    }
}

/// Carries out a change now, and runs until all tables are up to date. `graph` is what is there before,
/// and afterwards what is there then.
///
/// # Errors
/// A deadlock, or an invariant that did not hold.
pub fn reconfigure(
    simulator: &mut Simulator<Views>,
    workload: &mut impl Workload,
    graph: &mut Directed,
    change: Change,
    method: Method,
    settings: Settings,
) -> Result<Outcome, Failed> {
    reconfigure_all(simulator, workload, graph, &[(0, change)], method, settings)
}

/// The same with several changes, each so many cycles from now, in the order of their times. One that
/// comes while tables are not up to date yet is met by the static protocol. The network must stay
/// connected.
///
/// # Errors
/// A deadlock, or an invariant that did not hold.
pub fn reconfigure_all(
    simulator: &mut Simulator<Views>,
    workload: &mut impl Workload,
    graph: &mut Directed,
    changes: &[(u64, Change)],
    method: Method,
    settings: Settings,
) -> Result<Outcome, Failed> {
    let begun = simulator.now();
    let n = graph.alive.len();
    let discarded_before = simulator.discarded().packets;
    let courier = Courier::new(settings, simulator.wiring().channels() as usize, n);
    let wiring = simulator.wiring().clone();
    let mut live = Live { simulator, courier, stopped_since: vec![None; n], stopped: 0 };
    let mut runs: Vec<Run> = Vec::new();
    let (mut hit, mut addressed, mut last) = (0, 0, begun);
    let mut to_come = changes.iter().peekable();
    loop {
        let event_at = live.courier.next_time();
        if let Some((at, change)) =
            to_come.next_if(|(at, _)| event_at.is_none_or(|event| begun + at <= event))
        {
            live.simulator.run((begun + at).max(live.simulator.now()), workload)?;
            let neighbours = make(*change, graph);
            // What carrier tells both ends at once.
            hit += switch_power(live.simulator, graph, *change);
            let how = if event_at.is_some() { Method::Static } else { method };
            live.simulator.routing.changing = how != Method::Static;
            let epoch = runs.len() as u8;
            runs.push(Run::begin(&mut live, epoch, graph, *change, &neighbours, how, settings));
            continue;
        }
        let Some((time, event)) = live.courier.next() else { break };
        live.simulator.run(time, workload)?;
        let (epoch, what) = event.what;
        let (earlier, later) = runs.split_at_mut(usize::from(epoch) + 1);
        if graph.alive[event.at as usize] && !later.iter().any(|r| r.spread.joined[event.at as usize]) {
            let run = &mut earlier[usize::from(epoch)];
            run.handle(&mut live, Event { at: event.at, from: event.from, what });
            if later.is_empty() {
                graph.second_is_up.clone_from(&run.graph.second_is_up);
            }
        }
        last = live.simulator.now();
        for (_, change) in &changes[..runs.len()] {
            addressed += live
                .simulator
                .discard_stranded_if(|p| wiring.home(p.destination) == SwitchId(change.switch()));
        }
        // As the paper has it: what has no route at the moment is discarded.
        if method == Method::Overlapped {
            // Those that begin at a switch that has just come wait for its tables.
            let new: Vec<SwitchId> =
                changes.iter().filter(|(_, c)| c.comes()).map(|(_, c)| SwitchId(c.switch())).collect();
            live.simulator.discard_stranded_if(|p| !new.contains(&wiring.home(p.source)));
        }
        live.simulator.wake_all();
        if !live.simulator.routing.escape_is_acyclic(&graph.alive) {
            return Err(Failed::Circle(last));
        }
    }
    live.simulator.routing.changing = false;
    for (_, change) in changes {
        addressed +=
            live.simulator.discard_stranded_if(|p| wiring.home(p.destination) == SwitchId(change.switch()));
    }
    live.simulator.discard_stranded();
    if let Some(run) = runs.last() {
        *graph = run.graph.clone();
        judge(graph, &live.simulator.routing, &run.target)?;
    }
    let discarded = live.simulator.discarded().packets - discarded_before - hit - addressed;
    Ok(Outcome {
        cycles: last - begun,
        discarded,
        hit,
        addressed,
        stopped: live.stopped,
        messages: live.courier.messages,
        phits: live.courier.phits,
    })
}

/// Takes a switch's channels out of service or into it. Returns the packets lost.
fn switch_power(simulator: &mut Simulator<Views>, graph: &Directed, change: Change) -> u64 {
    let mut hit = 0;
    let own: Vec<ChannelId> = simulator.wiring().leaving(SwitchId(change.switch())).to_vec();
    for out in own {
        for channel in [out, ChannelId(out.0 ^ 1)] {
            if change.comes() { simulator.revive(channel) } else { hit += simulator.kill(channel) }
        }
    }
    if !change.comes() {
        hit += simulator.clear(SwitchId(change.switch()));
    }
    carrier(change, graph, &mut simulator.routing);
    hit
}
