//! The packets that are in the network or in the queues of hosts.

use crate::packet::{Packet, PacketId};

/// All packets that have not ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketStore {
    all: Vec<Packet>,
    free: Vec<PacketId>,
    is_used: Vec<bool>,
}

impl PacketStore {
    /// Adds a packet.
    pub fn add(&mut self, packet: Packet) -> PacketId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.all.push(packet);
            self.is_used.push(false);
            PacketId(self.all.len() as u32 - 1)
        });
        self.all[id.0 as usize] = packet;
        self.is_used[id.0 as usize] = true;
        id
    }

    /// Removes a packet.
    pub fn remove(&mut self, id: PacketId) -> Packet {
        assert!(std::mem::take(&mut self.is_used[id.0 as usize]), "a packet ends once");
        self.free.push(id);
        self.all[id.0 as usize]
    }

    /// A packet.
    pub fn get(&self, id: PacketId) -> &Packet {
        &self.all[id.0 as usize]
    }

    /// A packet, to change it.
    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.all[id.0 as usize]
    }

    /// The packets that are in the store.
    pub fn ids(&self) -> impl Iterator<Item = PacketId> + '_ {
        (0..self.all.len() as u32).filter(|i| self.is_used[*i as usize]).map(PacketId)
    }

    /// Number of packets in the store.
    pub fn count(&self) -> u64 {
        (self.all.len() - self.free.len()) as u64
    }
}
