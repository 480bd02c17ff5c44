//! What packets notice of a change: latency and deliveries, a little while at a time.

use super::directed_graph::Directed;
use super::switch_tables::Views;
use super::{Change, Failed, Method, Outcome, Settings, reconfigure_all};
use crate::parameters::Parameters;
use crate::simulator::packet::Packet;
use crate::simulator::{Post, Simulator, Workload};
use crate::traffic::{OpenLoop, Traffic};
use crate::wiring::Wiring;
use serde::Serialize;

/// Packets that arrived in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Moment {
    pub packets: u64,
    /// Mean cycles from making a packet to its arrival; 0 if none arrived.
    pub latency: f64,
}

/// Switches that go and come back.
#[derive(Clone, Debug, Serialize)]
pub struct Timeline {
    pub method: Method,
    pub window_cycles: u64,
    pub moments: Vec<Moment>,
    /// When they began to go and what that cost, when they began to come back and what that cost.
    pub changes: Vec<(u64, Outcome)>,
}

struct Watched {
    traffic: OpenLoop,
    window: u64,
    moments: Vec<Moment>,
}

impl Workload for Watched {
    fn next(&self) -> u64 {
        self.traffic.next()
    }
    fn act(&mut self, now: u64, posts: &mut Vec<Post>) {
        self.traffic.act(now, posts);
    }
    fn delivered(&mut self, now: u64, packet: &Packet, posts: &mut Vec<Post>) {
        let place = (now / self.window) as usize;
        if self.moments.len() <= place {
            self.moments.resize(place + 1, Moment::default());
        }
        let moment = &mut self.moments[place];
        moment.packets += 1;
        moment.latency += ((now - packet.created) as f64 - moment.latency) / moment.packets as f64;
        self.traffic.delivered(now, packet, posts);
    }
}

/// Which switches go and come back, and when.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The network must stay connected whichever of them are away at a time.
    pub switches: &'a [u32],
    /// From one of them to the next.
    pub apart_cycles: u64,
    /// Until the first goes, from then until the first comes back, and from then to the end.
    pub each_cycles: u64,
    /// How long what arrives is taken together.
    pub window_cycles: u64,
}

impl Course<'_> {
    fn changes(&self, change: fn(u32) -> Change) -> Vec<(u64, Change)> {
        (0..).map(|i| i * self.apart_cycles).zip(self.switches.iter().map(|s| change(*s))).collect()
    }
}

/// Switches go one soon after the other, and come back in the same order. Buffers hold one packet of 16
/// phits; directions are by a breadth-first tree from switch 0 at the beginning, so that this one is
/// the root.
///
/// # Errors
/// What a protocol did wrong.
pub fn timeline(
    wiring: &Wiring,
    course: Course,
    method: Method,
    settings: Settings,
    traffic: Traffic,
) -> Result<Timeline, Failed> {
    let (each, window_cycles) = (course.each_cycles, course.window_cycles);
    let n = wiring.switches() as usize;
    let links: Vec<(u32, u32)> = wiring.links().iter().map(|(a, b)| (a.0, b.0)).collect();
    let mut graph = Directed::breadth_first(vec![true; n], links.clone(), vec![true; links.len()], 0);
    let parameters = Parameters { buffer_phits: traffic.length.longest(), ..Parameters::CUT_THROUGH };
    let mut simulator =
        Simulator::new(wiring, parameters, Views::new(wiring, &graph)).expect("right parameters");
    let mut watched =
        Watched { traffic: OpenLoop::new(traffic, wiring), window: window_cycles, moments: Vec::new() };
    let mut changes = Vec::new();
    for (end, next) in [
        (each, Some(course.changes(Change::SwitchGoes))),
        (2 * each, Some(course.changes(Change::SwitchComes))),
        (3 * each, None),
    ] {
        while simulator.now() < end {
            simulator.run((simulator.now() + window_cycles).min(end), &mut watched)?;
            // Packets for hosts that are gone.
            simulator.discard_stranded();
        }
        if let Some(next) = next {
            changes.push((
                simulator.now(),
                reconfigure_all(&mut simulator, &mut watched, &mut graph, &next, method, settings)?,
            ));
        }
    }
    watched.moments.truncate((3 * each / window_cycles) as usize);
    Ok(Timeline { method, window_cycles, moments: watched.moments, changes })
}
