//! What a simulator contains, and how buffers, lanes and nodes are numbered.

use super::buffer::{Buffer, NONE, QueuedPackets};
use super::packet_store::PacketStore;
use super::workload::NewPacket;
use crate::packet::PacketId;
use crate::parameters::{Parameters, ParametersError};
use crate::routing::{Routing, VirtualLane};
use crate::wiring::{ChannelId, Node, Wiring};
use evenkeel_route::EndNodeId;
use std::collections::VecDeque;

/// Cycles between two checks for conservation and deadlock.
pub(super) const CHECK_CYCLES: u64 = 1 << 13;

/// A number of phits and packets since the beginning of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficCount {
    /// Number of phits.
    pub phits: u64,
    /// Number of packets.
    pub packets: u64,
}

impl TrafficCount {
    /// Adds phits and packets.
    pub(super) fn add(&mut self, phits: u64, packets: u64) {
        self.phits += phits;
        self.packets += packets;
    }
}

/// A phit on its way over a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// The buffer at which it arrives.
    pub to: u32,
    pub packet: PacketId,
    pub is_head: bool,
}

/// A network with everything in it.
///
/// Nodes are numbered: switches first, then hosts. So are lanes, by `channel · lanes + lane`. A buffer has
/// the number of its lane. After the buffers of lanes come the queues of hosts.
pub struct Simulator<R> {
    /// The routing function. It may change between two calls of [`Simulator::run`].
    pub routing: R,
    pub(super) wiring: Wiring,
    pub(super) parameters: Parameters,
    /// The present cycle.
    pub(super) now: u64,
    /// By buffer.
    pub(super) buffers: Vec<Buffer>,
    pub(super) queued: Vec<QueuedPackets>,
    /// By lane: the least room, in phits, that a waiting head needs and did not find; 0 if none waits.
    pub(super) wanted_room: Vec<u32>,
    pub(super) packets: PacketStore,
    /// By node: the buffers whose head waits for an output.
    pub(super) waiting_heads: Vec<Vec<u32>>,
    /// The nodes that have to arbitrate in this cycle, as a list and by node.
    pub(super) to_arbitrate: Vec<u32>,
    pub(super) is_to_arbitrate: Vec<bool>,
    /// By node: the buffer that was served last, when the arbiter is free again, and whether it is stopped.
    pub(super) last_served: Vec<u32>,
    pub(super) arbiter_free_at: Vec<u64>,
    pub(super) is_stopped: Vec<bool>,
    /// By channel: its ends, when it is free again, cycles per phit, delay, whether it has failed, phits
    /// that it has moved, and the lane that used it last.
    pub(super) from_node: Vec<u32>,
    pub(super) to_node: Vec<u32>,
    pub(super) free_at: Vec<u64>,
    pub(super) period: Vec<u32>,
    pub(super) delay: Vec<u32>,
    pub(super) has_failed: Vec<bool>,
    pub(super) phits_moved: Vec<u64>,
    pub(super) last_lane: Vec<u32>,
    /// By cycle, modulo the length: the phits that arrive then.
    pub(super) calendar: Vec<Vec<Arrival>>,
    /// Phits in the calendar.
    pub(super) in_flight: u64,
    /// Heads that are being routed: when that is done, and the buffer.
    pub(super) heads_in_routing: VecDeque<(u64, u32)>,
    /// The buffers whose front packet may be able to move.
    pub(super) movable: Vec<u32>,
    pub(super) scratch: Scratch,
    /// When conservation and deadlock are checked next.
    pub(super) next_check: u64,
    pub(super) created: TrafficCount,
    pub(super) delivered: TrafficCount,
    pub(super) discarded: TrafficCount,
}

/// Memory that is used again in each cycle.
#[derive(Default)]
pub(super) struct Scratch {
    pub ready: Vec<u32>,
    pub candidates: Vec<VirtualLane>,
    pub first_lanes: Vec<u8>,
    /// By channel: the cycle in which a buffer was chosen to use it, and that buffer.
    pub chosen: Vec<(u64, u32)>,
    pub new_packets: Vec<NewPacket>,
}

impl<R: Routing> Simulator<R> {
    /// An empty network.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn new(wiring: &Wiring, parameters: Parameters, routing: R) -> Result<Simulator<R>, ParametersError> {
        parameters.check()?;
        let node = |node: Node| match node {
            Node::Switch(s) => s.0,
            Node::Host(h) => wiring.switches() + h.0,
        };
        let channels = wiring.channels() as usize;
        let nodes = (wiring.switches() + wiring.hosts()) as usize;
        let ids = || (0..channels as u32).map(ChannelId);
        let to_node: Vec<u32> = ids().map(|c| node(wiring.to(c))).collect();
        let buffers = buffers(wiring, &parameters, &to_node);
        Ok(Simulator {
            routing,
            parameters,
            now: 0,
            queued: vec![QueuedPackets::new(); buffers.len()],
            wanted_room: vec![0; buffers.len()],
            packets: PacketStore::default(),
            waiting_heads: vec![Vec::new(); nodes],
            to_arbitrate: Vec::new(),
            is_to_arbitrate: vec![false; nodes],
            last_served: vec![NONE; nodes],
            arbiter_free_at: vec![0; nodes],
            is_stopped: vec![false; nodes],
            from_node: ids().map(|c| node(wiring.from(c))).collect(),
            to_node,
            free_at: vec![0; channels],
            period: vec![1; channels],
            delay: vec![parameters.link_cycles; channels],
            has_failed: vec![false; channels],
            phits_moved: vec![0; channels],
            last_lane: vec![0; channels],
            calendar: vec![Vec::new(); parameters.link_cycles as usize + 1],
            in_flight: 0,
            heads_in_routing: VecDeque::new(),
            movable: Vec::new(),
            scratch: Scratch { chosen: vec![(u64::MAX, NONE); channels], ..Scratch::default() },
            next_check: CHECK_CYCLES,
            created: TrafficCount::default(),
            delivered: TrafficCount::default(),
            discarded: TrafficCount::default(),
            buffers,
            wiring: wiring.clone(),
        })
    }

    /// The wiring of the network.
    pub fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// The present cycle.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// All that hosts have sent or have in their queues.
    pub fn created(&self) -> TrafficCount {
        self.created
    }

    /// All that has reached its host.
    pub fn delivered(&self) -> TrafficCount {
        self.delivered
    }

    /// All that was discarded.
    pub fn discarded(&self) -> TrafficCount {
        self.discarded
    }

    /// By channel: phits that it has moved so far.
    pub fn phits_moved(&self) -> &[u64] {
        &self.phits_moved
    }

    /// Makes a channel take `period` cycles for each phit.
    pub fn set_period(&mut self, channel: ChannelId, period: u32) {
        self.period[channel.0 as usize] = period.max(1);
    }

    /// The buffer that is the queue of a host.
    pub(super) fn host_queue(&self, host: EndNodeId) -> u32 {
        self.wiring.channels() * self.parameters.lanes + host.0
    }

    /// Whether a buffer is the queue of a host.
    pub(super) fn is_host_queue(&self, buffer: u32) -> bool {
        buffer >= self.wiring.channels() * self.parameters.lanes
    }

    /// The node at which a buffer is.
    pub(super) fn node_of(&self, buffer: u32) -> u32 {
        let lanes = self.wiring.channels() * self.parameters.lanes;
        if buffer >= lanes {
            self.wiring.switches() + buffer - lanes
        } else {
            self.to_node[(buffer / self.parameters.lanes) as usize]
        }
    }

    /// The buffer at the far end of a lane.
    pub(super) fn buffer_of(&self, lane: VirtualLane) -> u32 {
        lane.channel.0 * self.parameters.lanes + u32::from(lane.lane)
    }

    /// The lane before a buffer.
    pub(super) fn lane_of(&self, buffer: u32) -> VirtualLane {
        VirtualLane {
            channel: ChannelId(buffer / self.parameters.lanes),
            lane: (buffer % self.parameters.lanes) as u8,
        }
    }
}

/// The buffers of all lanes, and the queues of hosts.
fn buffers(wiring: &Wiring, parameters: &Parameters, to_node: &[u32]) -> Vec<Buffer> {
    let mut buffers = Vec::new();
    for to in to_node {
        // A host accepts everything that arrives.
        let capacity = if *to < wiring.switches() { parameters.buffer_phits } else { u32::MAX };
        buffers.extend((0..parameters.lanes).map(|_| Buffer::empty(capacity)));
    }
    buffers.extend((0..wiring.hosts()).map(|_| Buffer::empty(u32::MAX)));
    buffers
}
