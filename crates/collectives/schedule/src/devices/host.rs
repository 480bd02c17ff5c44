//! A host's side of the switch's barriers: says again what is not acknowledged.

use super::Protocol;
use super::packet::{Kind, NONE_FREE, Packet};

/// What a host is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Doing {
    Nothing,
    /// Waits for the acknowledgement of this kind.
    Asking {
        says: Kind,
        wants: Kind,
    },
    /// Has entered and waits to be acknowledged, then to be let go.
    Entering {
        acknowledged: bool,
    },
}

/// What has come to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Done {
    /// There is a barrier with this number, from this epoch on; both are to be told to the others that will
    /// take part.
    Created {
        id: u8,
        since: u32,
    },
    NoneFree,
    Participating,
    /// All have entered.
    Left,
    Freed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    protocol: Protocol,
    doing: Doing,
    id: u8,
    /// The last barrier it has entered or learned of.
    epoch: u32,
    request: u8,
}

impl Host {
    pub fn new(protocol: Protocol) -> Host {
        Host { protocol, doing: Doing::Nothing, id: 0, epoch: 0, request: 0 }
    }

    /// A host that takes part in a barrier already.
    pub fn participating(protocol: Protocol, id: u8, since: u32) -> Host {
        Host { id, epoch: since, ..Host::new(protocol) }
    }

    /// Asks for a barrier.
    pub fn create(&mut self) -> Packet {
        self.ask(Kind::GetId, Kind::GetIdAck)
    }

    /// Registers for a barrier that was created, from the epoch that its creator was told.
    pub fn participate(&mut self, id: u8, since: u32) -> Packet {
        self.id = id;
        self.epoch = since;
        self.ask(Kind::WantParticipate, Kind::ParticipateAck)
    }

    /// Gives the barrier back; only once all have left it.
    pub fn free(&mut self) -> Packet {
        self.ask(Kind::Free, Kind::FreeAck)
    }

    /// Enters the next barrier.
    pub fn enter(&mut self) -> Packet {
        self.epoch += 1;
        self.doing = Doing::Entering { acknowledged: false };
        self.packet(Kind::Reached)
    }

    pub fn is_idle(&self) -> bool {
        self.doing == Doing::Nothing
    }

    /// What it says again when nothing has come for a while.
    pub fn timeout(&self) -> Option<Packet> {
        match self.doing {
            Doing::Asking { says, .. } => Some(self.packet(says)),
            Doing::Entering { acknowledged: false } => Some(self.packet(Kind::Reached)),
            Doing::Entering { acknowledged: true } | Doing::Nothing => None,
        }
    }

    /// A packet comes; what is answered, and what has come to an end.
    pub fn receive(&mut self, packet: Packet) -> (Option<Packet>, Option<Done>) {
        let known = self.protocol == Protocol::WithEpoch;
        match (packet.kind, self.doing) {
            (Kind::Ready, doing) => {
                // It is acknowledged also if it comes again: the first acknowledgement was lost.
                let answer = Some(Packet { kind: Kind::ReadyAck, ..packet });
                let entered = matches!(doing, Doing::Entering { .. });
                let ours = !known || packet.id == self.id && packet.epoch == self.epoch;
                if entered && ours {
                    self.doing = Doing::Nothing;
                    return (answer, Some(Done::Left));
                }
                (answer, None)
            }
            (Kind::ReachedAck, Doing::Entering { .. }) if !known || packet.epoch == self.epoch => {
                self.doing = Doing::Entering { acknowledged: true };
                (None, None)
            }
            (kind, Doing::Asking { wants, .. })
                if kind == wants && (!known || packet.request == self.request) =>
            {
                self.doing = Doing::Nothing;
                (None, Some(self.answered(packet)))
            }
            _ => (None, None),
        }
    }

    fn answered(&mut self, packet: Packet) -> Done {
        match packet.kind {
            Kind::GetIdAck if packet.id == NONE_FREE => Done::NoneFree,
            Kind::GetIdAck => {
                self.id = packet.id;
                self.epoch = packet.epoch;
                Done::Created { id: packet.id, since: packet.epoch }
            }
            Kind::ParticipateAck => Done::Participating,
            _ => Done::Freed,
        }
    }

    fn ask(&mut self, says: Kind, wants: Kind) -> Packet {
        self.request = self.request.wrapping_add(1);
        self.doing = Doing::Asking { says, wants };
        self.packet(says)
    }

    fn packet(&self, kind: Kind) -> Packet {
        let packet = Packet { kind, id: self.id, epoch: self.epoch, request: self.request };
        let is_set_up = matches!(kind, Kind::GetId | Kind::WantParticipate | Kind::Free);
        match self.protocol {
            Protocol::Printed => packet.as_printed(),
            Protocol::WithEpoch if is_set_up => packet,
            Protocol::WithEpoch => Packet { request: 0, ..packet },
        }
    }
}
