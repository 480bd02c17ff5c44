//! The network in time: what is where, and the order in which things happen within a cycle.
//!
//! A cycle is: phits that arrive; the workload's posts; heads that have been looked at; arbitration;
//! moves. Moves are decided on the state at the beginning of the cycle and made afterwards, so that
//! their order does not matter. A buffer whose packet cannot move is not looked at until a phit comes
//! or a credit returns, and empty time is skipped: the cost is that of the phits that move.

use crate::parameters::{Impossible, Parameters, Switching};
use crate::routing::{Lane, Routing};
use crate::simulator::buffer::{Behind, Buffer, NONE};
use crate::simulator::deadlock::Deadlock;
use crate::simulator::packet::{Packet, PacketId, Packets};
use crate::wiring::{ChannelId, End, Wiring};
use evenkeel_route::EndNodeId;
use std::collections::VecDeque;
use thiserror::Error;

/// How often conservation and deadlock are looked at, in cycles.
const CHECK_CYCLES: u64 = 1 << 13;

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Post {
    pub source: EndNodeId,
    pub destination: EndNodeId,
    pub phits: u32,
    pub tag: u64,
}

/// What the hosts do.
pub trait Workload {
    /// When it wants to act next, in cycles; `u64::MAX`: never.
    fn next(&self) -> u64;
    /// It is the time that [`Workload::next`] named.
    fn act(&mut self, now: u64, posts: &mut Vec<Post>);
    /// The last phit of a packet has reached its host.
    fn delivered(&mut self, now: u64, packet: &Packet, posts: &mut Vec<Post>);
}

/// Why a simulation ended before its time.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Halt {
    #[error(transparent)]
    Deadlock(#[from] Deadlock),
    #[error("the simulator lost or made phits: {0}")]
    Conservation(String),
}

/// Phits and packets, from the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub phits: u64,
    pub packets: u64,
}

impl Count {
    pub(crate) fn add(&mut self, phits: u64, packets: u64) {
        self.phits += phits;
        self.packets += packets;
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub to: u32,
    pub packet: PacketId,
    pub head: bool,
}

/// A network with everything in it. `R` may be changed between two runs.
pub struct Simulator<R> {
    pub routing: R,
    pub(crate) wiring: Wiring,
    pub(crate) parameters: Parameters,
    pub(crate) now: u64,
    /// By lane, `channel · lanes + lane`; after them, the hosts' queues.
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) behind: Vec<Behind>,
    /// By lane: the least room, in phits, that a head has found lacking since the lane was last announced
    /// free; 0: nobody has.
    pub(crate) awaited: Vec<u32>,
    pub(crate) packets: Packets,
    /// By node: switches, then hosts. Buffers whose head wants an output.
    pub(crate) pending: Vec<Vec<u32>>,
    pub(crate) dirty: Vec<u32>,
    pub(crate) is_dirty: Vec<bool>,
    pub(crate) last_served: Vec<u32>,
    pub(crate) arbiter_free: Vec<u64>,
    pub(crate) stopped: Vec<bool>,
    /// By channel.
    pub(crate) from_node: Vec<u32>,
    pub(crate) to_node: Vec<u32>,
    pub(crate) free_at: Vec<u64>,
    pub(crate) period: Vec<u32>,
    pub(crate) delay: Vec<u32>,
    pub(crate) dead: Vec<bool>,
    pub(crate) moved: Vec<u64>,
    pub(crate) last_lane: Vec<u32>,
    /// By the cycle, modulo its length.
    pub(crate) calendar: Vec<Vec<Arrival>>,
    pub(crate) in_flight: u64,
    /// Heads that are being looked at: when that is done, and the buffer.
    pub(crate) heads: VecDeque<(u64, u32)>,
    pub(crate) active: Vec<u32>,
    pub(crate) scratch: Scratch,
    next_check: u64,
    pub(crate) created: Count,
    pub(crate) delivered: Count,
    pub(crate) discarded: Count,
}

#[derive(Default)]
pub(crate) struct Scratch {
    pub ready: Vec<u32>,
    pub candidates: Vec<Lane>,
    pub first_lanes: Vec<u8>,
    /// By channel: the cycle in which a lane was chosen, and the buffer that may use it.
    pub chosen: Vec<(u64, u32)>,
    pub posts: Vec<Post>,
}

impl<R: Routing> Simulator<R> {
    pub fn new(wiring: &Wiring, parameters: Parameters, routing: R) -> Result<Simulator<R>, Impossible> {
        parameters.check()?;
        let node = |end: End| match end {
            End::Switch(s) => s.0,
            End::Host(h) => wiring.switches() + h.0,
        };
        let (channels, nodes) = (wiring.channels(), (wiring.switches() + wiring.hosts()) as usize);
        let to_node: Vec<u32> = (0..channels).map(|c| node(wiring.to(ChannelId(c)))).collect();
        let mut buffers = Vec::new();
        for c in 0..channels {
            // A host takes whatever comes.
            let capacity =
                if to_node[c as usize] < wiring.switches() { parameters.buffer_phits } else { u32::MAX };
            buffers.extend((0..parameters.lanes).map(|_| Buffer::empty(capacity)));
        }
        buffers.extend((0..wiring.hosts()).map(|_| Buffer::empty(u32::MAX)));
        Ok(Simulator {
            routing,
            parameters,
            now: 0,
            behind: vec![Behind::new(); buffers.len()],
            awaited: vec![0; buffers.len()],
            packets: Packets::default(),
            pending: vec![Vec::new(); nodes],
            dirty: Vec::new(),
            is_dirty: vec![false; nodes],
            last_served: vec![NONE; nodes],
            arbiter_free: vec![0; nodes],
            stopped: vec![false; nodes],
            from_node: (0..channels).map(|c| node(wiring.from(ChannelId(c)))).collect(),
            to_node,
            free_at: vec![0; channels as usize],
            period: vec![1; channels as usize],
            delay: vec![parameters.link_cycles; channels as usize],
            dead: vec![false; channels as usize],
            moved: vec![0; channels as usize],
            last_lane: vec![0; channels as usize],
            calendar: vec![Vec::new(); parameters.link_cycles as usize + 1],
            in_flight: 0,
            heads: VecDeque::new(),
            active: Vec::new(),
            scratch: Scratch { chosen: vec![(u64::MAX, NONE); channels as usize], ..Scratch::default() },
            next_check: CHECK_CYCLES,
            created: Count::default(),
            delivered: Count::default(),
            discarded: Count::default(),
            buffers,
            wiring: wiring.clone(),
        })
    }

    pub fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// The present cycle.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// All that was posted.
    pub fn created(&self) -> Count {
        self.created
    }

    /// All that has reached its host.
    pub fn delivered(&self) -> Count {
        self.delivered
    }

    /// All that was taken out on the way.
    pub fn discarded(&self) -> Count {
        self.discarded
    }

    /// Phits that each channel has moved so far.
    pub fn moved(&self) -> &[u64] {
        &self.moved
    }

    /// A channel that takes `period` cycles for a phit.
    pub fn set_period(&mut self, channel: ChannelId, period: u32) {
        self.period[channel.0 as usize] = period.max(1);
    }

    /// Puts a packet into its host's queue.
    pub fn post(&mut self, post: Post) -> PacketId {
        let packet = Packet {
            source: post.source,
            destination: post.destination,
            phits: post.phits.max(1),
            created: self.now,
            injected: u64::MAX,
            tag: post.tag,
        };
        let id = self.packets.add(packet);
        self.created.add(u64::from(packet.phits), 1);
        let queue = self.host_queue(post.source);
        let buffer = &mut self.buffers[queue as usize];
        buffer.occupied += packet.phits;
        self.behind[queue as usize].push_back((id, packet.phits));
        buffer.sole = false;
        if buffer.front == NONE {
            self.next_front(queue);
        }
        id
    }

    /// Runs until the cycle `until`, or until it cannot go on.
    pub fn run(&mut self, until: u64, workload: &mut impl Workload) -> Result<(), Halt> {
        while self.now < until {
            self.cycle(workload);
            if self.now >= self.next_check {
                self.next_check = self.now + CHECK_CYCLES;
                self.conserved()?;
                self.no_deadlock()?;
            }
            let idle = self.active.is_empty() && self.dirty.is_empty() && self.in_flight == 0;
            self.now = if idle { self.next_event(workload).clamp(self.now + 1, until) } else { self.now + 1 };
        }
        self.conserved()
    }

    /// Runs until everything has been delivered and the workload has no more to do, at most until `limit`.
    /// False: the limit came first.
    pub fn finish(&mut self, limit: u64, workload: &mut impl Workload) -> Result<bool, Halt> {
        loop {
            self.run((self.now + 1000).min(limit), workload)?;
            if self.packets.count() == 0 && workload.next() == u64::MAX {
                return Ok(true);
            }
            if self.now >= limit {
                self.no_deadlock()?;
                return Ok(false);
            }
        }
    }

    fn next_event(&self, workload: &impl Workload) -> u64 {
        self.heads.front().map_or(u64::MAX, |h| h.0).min(workload.next())
    }

    fn cycle(&mut self, workload: &mut impl Workload) {
        let mut posts = std::mem::take(&mut self.scratch.posts);
        let slot = (self.now % self.calendar.len() as u64) as usize;
        let mut arrivals = std::mem::take(&mut self.calendar[slot]);
        self.in_flight -= arrivals.len() as u64;
        for arrival in arrivals.drain(..) {
            self.arrive(arrival, workload, &mut posts);
        }
        self.calendar[slot] = arrivals;
        if workload.next() <= self.now {
            workload.act(self.now, &mut posts);
        }
        for post in posts.drain(..) {
            self.post(post);
        }
        self.scratch.posts = posts;
        while let Some((_, buffer)) = self.heads.front().filter(|h| h.0 <= self.now).copied() {
            self.heads.pop_front();
            self.want_output(buffer);
        }
        if !self.dirty.is_empty() {
            self.arbitrate();
        }
        self.move_phits();
    }

    pub(crate) fn host_queue(&self, host: EndNodeId) -> u32 {
        self.wiring.channels() * self.parameters.lanes + host.0
    }

    pub(crate) fn is_host_queue(&self, buffer: u32) -> bool {
        buffer >= self.wiring.channels() * self.parameters.lanes
    }

    /// The node at which a buffer is.
    pub(crate) fn node_of(&self, buffer: u32) -> u32 {
        let channels = self.wiring.channels() * self.parameters.lanes;
        if buffer >= channels {
            self.wiring.switches() + buffer - channels
        } else {
            self.to_node[(buffer / self.parameters.lanes) as usize]
        }
    }

    pub(crate) fn make_dirty(&mut self, node: u32) {
        if !self.pending[node as usize].is_empty()
            && !std::mem::replace(&mut self.is_dirty[node as usize], true)
        {
            self.dirty.push(node);
        }
    }

    fn want_output(&mut self, buffer: u32) {
        let node = self.node_of(buffer);
        self.pending[node as usize].push(buffer);
        self.make_dirty(node);
    }

    /// The front packet is gone: the next one, if there is one, becomes it.
    pub(crate) fn next_front(&mut self, at: u32) {
        let packets = &self.packets;
        self.buffers[at as usize].advance(&mut self.behind[at as usize], |id| packets.get(id).phits);
        if self.buffers[at as usize].front != NONE {
            self.look_at_head(at);
        }
    }

    /// Begins to look at the head of the front packet, unless the whole packet has to come first.
    pub(crate) fn look_at_head(&mut self, at: u32) {
        let buffer = &self.buffers[at as usize];
        if self.parameters.switching == Switching::StoreAndForward && buffer.present < buffer.left {
            return;
        }
        if self.is_host_queue(at) {
            self.want_output(at);
        } else {
            self.heads.push_back((self.now + u64::from(self.parameters.header_cycles), at));
        }
    }

    /// That every phit and every packet is somewhere.
    pub fn conserved(&self) -> Result<(), Halt> {
        let here = Count {
            phits: self.buffers.iter().map(|b| u64::from(b.occupied)).sum(),
            packets: self.packets.count(),
        };
        let of =
            |f: fn(&Count) -> u64| (f(&self.created), f(&self.delivered) + f(&self.discarded) + f(&here));
        for (what, (made, found)) in [("phits", of(|c| c.phits)), ("packets", of(|c| c.packets))] {
            if made != found {
                return Err(Halt::Conservation(format!(
                    "{made} {what} were made, {found} are accounted for at cycle {}",
                    self.now
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::TableRouting;
    use crate::traffic::{Length, Pattern};
    use crate::traffic::{OpenLoop, Traffic};
    use evenkeel_route::SwitchId;

    #[test]
    fn a_lost_phit_is_noticed() {
        let wiring = Wiring::new(1, Vec::new(), vec![SwitchId(0); 3]);
        let mut simulator = Simulator::new(&wiring, Parameters::MYRINET, TableRouting::new(1, 3)).unwrap();
        let mut traffic = OpenLoop::new(
            Traffic { pattern: Pattern::Uniform, length: Length::Fixed(16), load: 0.3, copies: 1, seed: 1 },
            &wiring,
        );
        simulator.run(1000, &mut traffic).unwrap();
        let somewhere =
            simulator.buffers.iter().position(|b| b.occupied > 0).expect("something is on its way");
        simulator.buffers[somewhere].occupied -= 1;
        assert!(matches!(simulator.conserved(), Err(Halt::Conservation(_))));
    }
}
