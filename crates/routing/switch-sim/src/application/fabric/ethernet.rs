//! Gigabit Ethernet: store-and-forward switches in two levels. Ticks are tenths of a nanosecond.

use crate::application::frame_network::{FrameNetwork, Line, LineEnd, QueueDiscipline, Replication};
use crate::application::framing::Framing;

/// A frame has up to 1,500 bytes of a message, 18 bytes of header and checksum, and at least 64 bytes in all.
pub(super) const FRAMING: Framing = Framing { payload: 1500, overhead: 18, least: 64 };

/// A line of 1 Gb/s. The preamble and the gap between frames take as long as 20 bytes.
pub(super) const GIGABIT: Line = Line {
    to: LineEnd::Host(0),
    unit_bytes: 1,
    unit_ticks: 80,
    gap_ticks: 20 * 80,
    delay_ticks: 0,
    cut_through: false,
    discipline: QueueDiscipline::Fifo,
};

/// Delays: of a switch, the part of it in which the switch processes one frame only, and of a host.
const SWITCH_TICKS: u64 = 4720;
const PROCESS_TICKS: u64 = 3900;
const HOST_TICKS: u64 = 680;
/// Switches with hosts. A further one, the centre, joins them.
const EDGES: u32 = 4;

/// The network.
///
/// The smallest frame takes 1.564 µs through one switch, of which 2 times 0.512 µs are the time on lines,
/// and 3.532 µs through three switches. So each switch takes 0.472 µs, and the rest 0.068 µs. That a switch
/// processes one frame at a time, and for how long of the 0.472 µs, is our interpretation of the mesh: its
/// mean latency is 49 µs for all sizes up to 512 bytes, on lines that are idle most of the time.
pub(super) fn network(hosts: u32) -> FrameNetwork {
    let each = hosts / EDGES;
    // Every switch has two nodes: one that receives frames, and one behind the line that stands for its
    // processing.
    let processed = EDGES + 1;
    let line = |to, delay_ticks| Line { to, delay_ticks, ..GIGABIT };
    let mut lines: Vec<Line> = (0..hosts).map(|h| line(LineEnd::Switch(h / each), 0)).collect();
    let to_hosts = lines.len();
    lines.extend((0..hosts).map(|h| line(LineEnd::Host(h), HOST_TICKS)));
    let to_centre = lines.len();
    lines.extend((0..EDGES).map(|_| line(LineEnd::Switch(EDGES), 0)));
    let to_edges = lines.len();
    lines.extend((0..EDGES).map(|e| line(LineEnd::Switch(e), 0)));
    let processing = lines.len();
    lines.extend((0..=EDGES).map(|s| Line {
        unit_bytes: u32::MAX,
        unit_ticks: PROCESS_TICKS,
        gap_ticks: 0,
        delay_ticks: SWITCH_TICKS - PROCESS_TICKS,
        ..line(LineEnd::Switch(processed + s), 0)
    }));
    let next = |s: u32| {
        move |h: u32| match (s, h / each) {
            (s, _) if s < processed => processing + s as usize,
            (s, edge) if s == processed + EDGES => to_edges + edge as usize,
            (s, edge) if s == processed + edge => to_hosts + h as usize,
            (s, _) => to_centre + (s - processed) as usize,
        }
    };
    let next = (0..2 * processed).map(|s| (0..hosts).map(next(s)).collect()).collect();
    let first = (0..hosts as usize).collect();
    FrameNetwork { lines, first, next, replication: Replication::AtBranch, framing: FRAMING, seed: 0 }
}
