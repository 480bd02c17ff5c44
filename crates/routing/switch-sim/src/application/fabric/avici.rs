//! The Avici router: line cards in a torus of fast lines. Ticks are tenths of a nanosecond.

use super::ethernet::{FRAMING, GIGABIT};
use crate::application::frame_network::{FrameNetwork, Line, LineEnd, QueueDiscipline, Replication};
use crate::application::framing::Framing;

/// The ports of the router.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ports {
    /// Gigabit Ethernet.
    GigabitEthernet,
    /// Hosts attach to internal lines.
    Internal,
}

impl Ports {
    /// The line between a host and its card.
    fn line(self) -> Line {
        match self {
            // An interface takes this time for a frame in addition to storing it.
            Ports::GigabitEthernet => Line { delay_ticks: 880, ..GIGABIT },
            Ports::Internal => Line { unit_ticks: 0, gap_ticks: 0, ..GIGABIT },
        }
    }

    fn framing(self) -> Framing {
        match self {
            Ports::GigabitEthernet => FRAMING,
            Ports::Internal => Framing { payload: u32::MAX, overhead: 0, least: 1 },
        }
    }
}

/// Line cards. Each has 16 hosts.
const CARDS: u32 = 16;
/// The least time from card to card.
const TRANSIT_TICKS: u64 = 1512;

/// An internal line: 20 Gb/s in units of 72 bytes, of which 64 belong to the frame.
const INTERNAL: Line = Line {
    to: LineEnd::Host(0),
    unit_bytes: 64,
    unit_ticks: 288,
    gap_ticks: 0,
    delay_ticks: 0,
    cut_through: false,
    discipline: QueueDiscipline::Fifo,
};

/// The network: 16 line cards with 16 hosts each, five cards to a quadrant.
///
/// A card divides a frame into units, which run through to the card of its destination and are stored
/// there. The smallest message takes 0.180 µs from host to host of a card without Ethernet ports, of which
/// 0.0288 µs are a unit, and at most 0.330 µs between cards. Two interfaces add 0.088 µs each to the 0.512
/// µs of their lines.
pub(super) fn network(hosts: u32, ports: Ports, seed: u64) -> FrameNetwork {
    let each = hosts / CARDS;
    // Every card has four nodes: where it receives frames, the fabric behind that, the fabric before its
    // output, and where it sends frames to hosts.
    let (fabric_in, fabric_out, card_out) = (CARDS, 2 * CARDS, 3 * CARDS);
    let mut lines: Vec<Line> =
        (0..hosts).map(|h| Line { to: LineEnd::Switch(h / each), ..ports.line() }).collect();
    let to_hosts = lines.len();
    let discipline = QueueDiscipline::PerSource;
    lines.extend((0..hosts).map(|h| Line { to: LineEnd::Host(h), discipline, ..ports.line() }));
    let into_fabric = lines.len();
    let into = |c| Line { to: LineEnd::Switch(fabric_in + c), cut_through: true, ..INTERNAL };
    lines.extend((0..CARDS).map(into));
    let out_of_fabric = lines.len();
    lines.extend((0..CARDS).map(|c| Line { to: LineEnd::Switch(card_out + c), ..INTERNAL }));
    let between = lines.len();
    for from in 0..CARDS {
        lines.extend((0..CARDS).map(|to| Line {
            to: LineEnd::Switch(fabric_out + to),
            unit_ticks: 0,
            delay_ticks: TRANSIT_TICKS + path_ticks(from, to),
            cut_through: true,
            ..INTERNAL
        }));
    }
    let next = |s: u32| {
        move |h: u32| {
            let (layer, card, to) = (s / CARDS, s % CARDS, h / each);
            match layer {
                0 => into_fabric + card as usize,
                1 => between + (card * CARDS + to) as usize,
                2 => out_of_fabric + card as usize,
                _ => to_hosts + h as usize,
            }
        }
    };
    let next = (0..4 * CARDS).map(|s| (0..hosts).map(next(s)).collect()).collect();
    let first = (0..hosts as usize).collect();
    FrameNetwork {
        lines,
        first,
        next,
        replication: Replication::AtFirstSwitch,
        framing: ports.framing(),
        seed,
    }
}

/// What the path between two cards adds: 0.03 µs to leave a card, and 0.06 µs for each step around a
/// quadrant's ring of five cards or from quadrant to quadrant.
fn path_ticks(a: u32, b: u32) -> u64 {
    if a == b {
        return 0;
    }
    let around = (a % 5).abs_diff(b % 5);
    300 + 600 * u64::from(around.min(5 - around) + (a / 5).abs_diff(b / 5))
}
