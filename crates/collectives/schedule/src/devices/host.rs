//! A host's side of the switch's barriers. It repeats packets that are not acknowledged.

use super::packet::{NONE_FREE, Packet, PacketType, Protocol};

/// What a host is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum HostState {
    Idle,
    /// It has sent a request and waits for the answer of this type.
    Requesting {
        request: PacketType,
        answer: PacketType,
    },
    /// It has entered and waits first for the acknowledgement, then for the release.
    Entering {
        acknowledged: bool,
    },
}

/// A request or a barrier that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Completion {
    /// There is a new barrier. The creator has to tell the other participants its number and epoch.
    Created {
        /// The number of the barrier.
        id: u8,
        /// The epoch with which it begins.
        since: u32,
    },
    /// No barrier was free.
    NoneFree,
    /// The host takes part in the barrier.
    Participating,
    /// All hosts have entered, and this one has left.
    Left,
    /// The barrier is free again.
    Freed,
}

/// A host that takes part in at most one barrier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    protocol: Protocol,
    state: HostState,
    id: u8,
    /// The last barrier it has entered or learned of.
    epoch: u32,
    request: u8,
}

impl Host {
    /// A host that takes part in no barrier.
    pub fn new(protocol: Protocol) -> Host {
        Host { protocol, state: HostState::Idle, id: 0, epoch: 0, request: 0 }
    }

    /// A host that already takes part in a barrier.
    pub fn participating(protocol: Protocol, id: u8, since: u32) -> Host {
        Host { id, epoch: since, ..Host::new(protocol) }
    }

    /// Asks for a new barrier.
    pub fn create(&mut self) -> Packet {
        self.request(PacketType::GetId, PacketType::GetIdAck)
    }

    /// Registers for a barrier, beginning with the epoch that its creator was told.
    pub fn participate(&mut self, id: u8, since: u32) -> Packet {
        self.id = id;
        self.epoch = since;
        self.request(PacketType::WantParticipate, PacketType::ParticipateAck)
    }

    /// Gives the barrier back. All hosts must have left it.
    pub fn free(&mut self) -> Packet {
        self.request(PacketType::Free, PacketType::FreeAck)
    }

    /// Enters the next barrier.
    pub fn enter(&mut self) -> Packet {
        self.epoch += 1;
        self.state = HostState::Entering { acknowledged: false };
        self.packet(PacketType::Reached)
    }

    /// Whether it waits for nothing.
    pub fn is_idle(&self) -> bool {
        self.state == HostState::Idle
    }

    /// The packet that it repeats if nothing has arrived for a while.
    pub fn timeout(&self) -> Option<Packet> {
        match self.state {
            HostState::Requesting { request, .. } => Some(self.packet(request)),
            HostState::Entering { acknowledged: false } => Some(self.packet(PacketType::Reached)),
            HostState::Entering { acknowledged: true } | HostState::Idle => None,
        }
    }

    /// Receives a packet. Returns its answer, and what is complete.
    pub fn receive(&mut self, packet: Packet) -> (Option<Packet>, Option<Completion>) {
        let checks_epoch = self.protocol == Protocol::WithEpoch;
        match (packet.packet_type, self.state) {
            (PacketType::Ready, state) => {
                // A repeated packet is acknowledged too: the first acknowledgement was lost.
                let answer = Some(Packet { packet_type: PacketType::ReadyAck, ..packet });
                let entered = matches!(state, HostState::Entering { .. });
                let ours = !checks_epoch || packet.id == self.id && packet.epoch == self.epoch;
                if entered && ours {
                    self.state = HostState::Idle;
                    return (answer, Some(Completion::Left));
                }
                (answer, None)
            }
            (PacketType::ReachedAck, HostState::Entering { .. })
                if !checks_epoch || packet.epoch == self.epoch =>
            {
                self.state = HostState::Entering { acknowledged: true };
                (None, None)
            }
            (packet_type, HostState::Requesting { answer, .. })
                if packet_type == answer && (!checks_epoch || packet.request == self.request) =>
            {
                self.state = HostState::Idle;
                (None, Some(self.complete(packet)))
            }
            _ => (None, None),
        }
    }

    fn complete(&mut self, packet: Packet) -> Completion {
        match packet.packet_type {
            PacketType::GetIdAck if packet.id == NONE_FREE => Completion::NoneFree,
            PacketType::GetIdAck => {
                self.id = packet.id;
                self.epoch = packet.epoch;
                Completion::Created { id: packet.id, since: packet.epoch }
            }
            PacketType::ParticipateAck => Completion::Participating,
            _ => Completion::Freed,
        }
    }

    fn request(&mut self, request: PacketType, answer: PacketType) -> Packet {
        self.request = self.request.wrapping_add(1);
        self.state = HostState::Requesting { request, answer };
        self.packet(request)
    }

    fn packet(&self, packet_type: PacketType) -> Packet {
        let packet = Packet { packet_type, id: self.id, epoch: self.epoch, request: self.request };
        let is_set_up =
            matches!(packet_type, PacketType::GetId | PacketType::WantParticipate | PacketType::Free);
        match self.protocol {
            Protocol::Printed => packet.as_printed(),
            Protocol::WithEpoch if is_set_up => packet,
            Protocol::WithEpoch => Packet { request: 0, ..packet },
        }
    }
}
