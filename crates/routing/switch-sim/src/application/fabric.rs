//! The paper's three fabrics for 256 hosts.
//!
//! The paper gives topologies and rates. What switches take is not said there, but follows from its
//! table of token latencies, which single messages in an empty network make; the constants below were
//! found from it by hand, and all other tables are what comes out.

use super::frame_network::{Framing, Line, Lines, Node, Order, Replicas};
use super::outcome::Outcome;
use super::phit_network;
use super::program::{Core, Load, Program};
use crate::parameters::{Parameters, Switching};
use crate::routing::SourceRouting;
use crate::simulator::{Halt, Simulator};
use crate::wiring::{ChannelId, Wiring};
use evenkeel_route::{ChannelOrder, Network, Random, SourceRoutes, generate, schemes};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// A model of a fabric with 256 hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fabric {
    /// 8 x 4 switches in a torus with 8 hosts each and two cables between neighbours, 1.28 Gb/s,
    /// source-routed wormhole switching, messages of any length.
    Myrinet,
    /// Gigabit Ethernet: four store-and-forward switches with 64 hosts each around a fifth, one line to
    /// each; sends to many are replicated by the switches.
    Ethernet,
    /// A router of line cards with 16 Gigabit Ethernet ports each in a torus of 20 Gb/s lines, which carry
    /// units of 72 bytes, 64 of them a frame's; frames are stored twice on the way.
    Avici,
    /// The same with hosts that are as fast as the lines inside.
    AviciFabric,
}

/// Hosts of every model.
pub const HOSTS: u32 = 256;
/// Between two iterations of mesh and torus, in nanoseconds.
const COMPUTE_NS: f64 = 10_000.0;
const ITERATIONS: u32 = 10;

impl Fabric {
    pub const ALL: [Fabric; 4] = [Fabric::Myrinet, Fabric::Ethernet, Fabric::Avici, Fabric::AviciFabric];

    /// How long a tick of its outcomes is.
    pub fn tick_ns(self) -> f64 {
        // Half of what a byte takes at 1.28 Gb/s; a tenth of a nanosecond.
        if self == Fabric::Myrinet { 3.125 } else { 0.1 }
    }
}

impl fmt::Display for Fabric {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Fabric::Myrinet => "myrinet",
            Fabric::Ethernet => "ethernet",
            Fabric::Avici => "avici",
            Fabric::AviciFabric => "avici-fabric",
        })
    }
}

impl FromStr for Fabric {
    type Err = String;
    fn from_str(text: &str) -> Result<Fabric, String> {
        Fabric::ALL.into_iter().find(|f| f.to_string() == text).ok_or_else(|| {
            format!("`{text}` is no fabric: there are myrinet, ethernet, avici and avici-fabric")
        })
    }
}

/// What the paper has a core do: 10 iterations, 10 µs of computing in each.
pub fn load(fabric: Fabric, core: Core, bytes: u32) -> Load {
    Load {
        core,
        hosts: HOSTS,
        bytes,
        iterations: ITERATIONS,
        compute_ticks: (COMPUTE_NS / fabric.tick_ns()) as u64,
    }
}

/// Runs a core on a fabric. The seed chooses among Myrinet's shortest paths, and which connection
/// Avici's ports serve.
///
/// # Errors
/// A deadlock.
pub fn run(fabric: Fabric, load: Load, seed: u64) -> Result<Outcome, Halt> {
    let mut program = Program::new(load);
    match fabric {
        Fabric::Myrinet => phit_network::run(&mut myrinet(seed), &mut program)?,
        Fabric::Ethernet => ethernet().run(&mut program),
        Fabric::Avici => avici(seed, &GIGABIT).run(&mut program),
        Fabric::AviciFabric => avici(seed, &NO_PORT).run(&mut program),
    }
    Ok(program.outcome())
}

/// Bytes take two cycles of 3.125 ns. One byte takes 388 ns through one switch, and 240.5 ns more for
/// each further one: heads take 30 cycles in a switch, links 47. Messages to the same host follow each
/// other at 12.995 µs for 2 KB, 195 ns more than their bytes take: 62 cycles.
const MYRINET: Parameters = Parameters {
    switching: Switching::Wormhole,
    lanes: 1,
    buffer_phits: 80,
    header_cycles: 30,
    arbiter_cycles: 1,
    link_cycles: 47,
    gap_cycles: 62,
};
const CYCLES_PER_BYTE: u32 = 2;

/// Which paths were taken the paper does not say. These are up*/down* by a breadth-first tree, as
/// Myrinet has it, along whichever of two cables is free; minimal ones by the order of dimensions
/// deadlock here.
fn myrinet(seed: u64) -> Simulator<SourceRouting> {
    let network = myrinet_network();
    let order =
        ChannelOrder::up_down(&network, &schemes::breadth_first(&network, schemes::best_root(&network)));
    let routes = SourceRoutes::shortest(&network, &order, &mut Random::new(seed));
    let wiring = Wiring::of(&network);
    on_myrinet(&wiring, SourceRouting::of(&network, &routes).any_cable(&wiring))
}

fn myrinet_network() -> Network {
    generate::torus(&generate::Torus { sizes: vec![8, 4], wrapped: true, cables: 2, end_nodes: 8 })
        .expect("a possible torus")
}

fn on_myrinet(wiring: &Wiring, routing: SourceRouting) -> Simulator<SourceRouting> {
    let mut simulator = Simulator::new(wiring, MYRINET, routing).expect("possible parameters");
    (0..wiring.channels()).for_each(|c| simulator.set_period(ChannelId(c), CYCLES_PER_BYTE));
    simulator
}

/// Of Ethernet: 1,500 bytes of a message in a frame of at least 64 with a header and check sum of 18.
const ETHERNET_FRAMES: Framing = Framing { payload: 1500, overhead: 18, least: 64 };
/// Ticks are tenths of nanoseconds. 1 Gb/s; preamble and the gap between frames take as long as 20 bytes.
const GIGABIT: Line = Line {
    to: Node::Host(0),
    unit_bytes: 1,
    unit_ticks: 80,
    gap_ticks: 20 * 80,
    delay_ticks: 0,
    cut_through: false,
    order: Order::Arrival,
};
/// What an interface of the Avici router takes for a frame beside storing it.
const AVICI_PORT_TICKS: u64 = 880;

/// The least frame takes 1.564 µs through one switch, twice 0.512 of it on lines, and 3.532 µs through
/// three: 0.472 for each switch, and 0.068. That a switch looks at one frame at a time, and for how
/// long of the 0.472, is our reading of the mesh: its mean latency is 49 µs whatever the size up to 512
/// bytes, on lines that are idle most of the time.
fn ethernet() -> Lines {
    const SWITCH: u64 = 4720;
    const LOOK: u64 = 3900;
    const END: u64 = 680;
    const EDGES: u32 = 4;
    let each = HOSTS / EDGES;
    // Switches: as they take frames in, and behind what looks at them. The last one is the centre.
    let behind = EDGES + 1;
    let line = |to, delay_ticks| Line { to, delay_ticks, ..GIGABIT };
    let mut lines: Vec<Line> = (0..HOSTS).map(|h| line(Node::Switch(h / each), 0)).collect();
    let outs = lines.len();
    lines.extend((0..HOSTS).map(|h| line(Node::Host(h), END)));
    let ups = lines.len();
    lines.extend((0..EDGES).map(|_| line(Node::Switch(EDGES), 0)));
    let downs = lines.len();
    lines.extend((0..EDGES).map(|e| line(Node::Switch(e), 0)));
    let looks = lines.len();
    lines.extend((0..=EDGES).map(|s| Line {
        unit_bytes: u32::MAX,
        unit_ticks: LOOK,
        gap_ticks: 0,
        delay_ticks: SWITCH - LOOK,
        ..line(Node::Switch(behind + s), 0)
    }));
    let next = |s: u32| {
        move |h: u32| match (s, h / each) {
            (s, _) if s < behind => looks + s as usize,
            (s, edge) if s == behind + EDGES => downs + edge as usize,
            (s, edge) if s == behind + edge => outs + h as usize,
            (s, _) => ups + (s - behind) as usize,
        }
    };
    let next = (0..2 * behind).map(|s| (0..HOSTS).map(next(s)).collect()).collect();
    Lines {
        lines,
        first: (0..HOSTS as usize).collect(),
        next,
        replicas: Replicas::Late,
        framing: ETHERNET_FRAMES,
        seed: 0,
    }
}

/// A port without lines of its own.
const NO_PORT: Line = Line { unit_ticks: 0, gap_ticks: 0, ..GIGABIT };

/// 16 line cards with 16 hosts each, five to a quadrant. A card gives a frame to the fabric in units,
/// which run through to the card of its destination and are stored there. The least message takes 0.180
/// µs from host to host of a card with nothing around, 0.0288 of it a unit; 0.330 at most between
/// cards, up to two steps apart in the order of the ring; two interfaces add 0.088 each to the lines'
/// 0.512.
fn avici(seed: u64, port: &Line) -> Lines {
    const CARDS: u32 = 16;
    const TRANSIT: u64 = 1512;
    let each = HOSTS / CARDS;
    let interface = if port.unit_ticks > 0 { AVICI_PORT_TICKS } else { 0 };
    let inside = |to, cut_through| Line {
        to,
        unit_bytes: 64,
        unit_ticks: 288,
        gap_ticks: 0,
        delay_ticks: 0,
        cut_through,
        order: Order::Arrival,
    };
    // Switches: cards as they take frames in, the fabric behind each, the fabric before each, cards as
    // they give frames out.
    let (fabric_in, fabric_out, card_out) = (CARDS, 2 * CARDS, 3 * CARDS);
    let mut lines: Vec<Line> =
        (0..HOSTS).map(|h| Line { to: Node::Switch(h / each), delay_ticks: interface, ..*port }).collect();
    lines.extend((0..HOSTS).map(|h| Line {
        to: Node::Host(h),
        delay_ticks: interface,
        order: Order::Connections,
        ..*port
    }));
    let egress = lines.len();
    lines.extend((0..CARDS).map(|c| inside(Node::Switch(fabric_in + c), true)));
    let ingress = lines.len();
    lines.extend((0..CARDS).map(|c| inside(Node::Switch(card_out + c), false)));
    let between = lines.len();
    for from in 0..CARDS {
        lines.extend((0..CARDS).map(|to| Line {
            unit_ticks: 0,
            delay_ticks: TRANSIT + steps_ticks(from, to),
            ..inside(Node::Switch(fabric_out + to), true)
        }));
    }
    let next = |s: u32| {
        move |h: u32| {
            let (layer, card, to) = (s / CARDS, s % CARDS, h / each);
            match layer {
                0 => egress + card as usize,
                1 => between + (card * CARDS + to) as usize,
                2 => ingress + card as usize,
                _ => (HOSTS + h) as usize,
            }
        }
    };
    let next = (0..4 * CARDS).map(|s| (0..HOSTS).map(next(s)).collect()).collect();
    let framing = if port.unit_ticks > 0 {
        ETHERNET_FRAMES
    } else {
        Framing { payload: u32::MAX, overhead: 0, least: 1 }
    };
    Lines { lines, first: (0..HOSTS as usize).collect(), next, replicas: Replicas::First, framing, seed }
}

/// What the way between two cards adds: 0.03 µs to leave a card, 0.06 for each step round a quadrant's
/// ring of five cards or from quadrant to quadrant.
fn steps_ticks(a: u32, b: u32) -> u64 {
    if a == b {
        return 0;
    }
    let around = (a % 5).abs_diff(b % 5);
    300 + 600 * u64::from(around.min(5 - around) + (a / 5).abs_diff(b / 5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::End;
    use evenkeel_route::SwitchId;

    #[test]
    fn minimal_paths_by_the_order_of_dimensions_deadlock_on_the_torus() {
        let network = myrinet_network();
        let wiring = Wiring::of(&network);
        // One step the short way round a ring.
        let step = |at: u32, to: u32, size: u32| match (to + size - at) % size {
            0 => at,
            ahead if 2 * ahead <= size => (at + 1) % size,
            _ => (at + size - 1) % size,
        };
        let path = |from: SwitchId, to: SwitchId| {
            let (mut path, mut at) = (Vec::new(), from.0);
            while at != to.0 {
                let x = step(at % 8, to.0 % 8, 8);
                let y = if x == at % 8 { step(at / 8, to.0 / 8, 4) } else { at / 8 };
                let next = y * 8 + x;
                let leads = |c: &&ChannelId| wiring.to(**c) == End::Switch(SwitchId(next));
                path.push(*wiring.leaving(SwitchId(at)).iter().find(leads).expect("neighbours are joined"));
                at = next;
            }
            path
        };
        let mut simulator = on_myrinet(&wiring, SourceRouting::new(&wiring, path).any_cable(&wiring));
        let mut program = Program::new(load(Fabric::Myrinet, Core::Torus, 2048));
        let halted = phit_network::run(&mut simulator, &mut program);
        assert!(matches!(halted, Err(Halt::Deadlock(_))), "{halted:?}");
    }
}
