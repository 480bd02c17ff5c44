//! Packets on their way, and the store they are kept in.

use evenkeel_route::EndNodeId;

/// A packet, by its place in the store. Places are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketId(pub u32);

/// What is known of a packet while it is on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    pub source: EndNodeId,
    pub destination: EndNodeId,
    pub phits: u32,
    /// When it was handed to its host's queue, in cycles.
    pub created: u64,
    /// When its head left the host; `u64::MAX` before.
    pub injected: u64,
    /// Whatever the workload wants to know it by.
    pub tag: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Packets {
    all: Vec<Packet>,
    free: Vec<PacketId>,
    alive: Vec<bool>,
}

impl Packets {
    pub fn add(&mut self, packet: Packet) -> PacketId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.all.push(packet);
            self.alive.push(false);
            PacketId(self.all.len() as u32 - 1)
        });
        self.all[id.0 as usize] = packet;
        self.alive[id.0 as usize] = true;
        id
    }

    pub fn remove(&mut self, id: PacketId) -> Packet {
        assert!(std::mem::take(&mut self.alive[id.0 as usize]), "a packet ends once");
        self.free.push(id);
        self.all[id.0 as usize]
    }

    pub fn get(&self, id: PacketId) -> &Packet {
        &self.all[id.0 as usize]
    }

    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.all[id.0 as usize]
    }

    pub fn ids(&self) -> impl Iterator<Item = PacketId> + '_ {
        (0..self.all.len() as u32).filter(|i| self.alive[*i as usize]).map(PacketId)
    }

    pub fn count(&self) -> u64 {
        (self.all.len() - self.free.len()) as u64
    }
}
