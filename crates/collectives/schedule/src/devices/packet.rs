//! What hosts and the switch's unit say to each other.

/// The types with their codes; 5 and 6 are not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A host asks for a barrier of its own.
    GetId = 1,
    /// Its number; [`NONE_FREE`] if there is none.
    GetIdAck = 2,
    /// A host will take part.
    WantParticipate = 3,
    ParticipateAck = 4,
    /// A host has entered.
    Reached = 7,
    ReachedAck = 8,
    /// All have entered.
    Ready = 9,
    ReadyAck = 10,
    /// The barrier is not needed any more.
    Free = 11,
    FreeAck = 12,
}

const KINDS: [Kind; 10] = [
    Kind::GetId,
    Kind::GetIdAck,
    Kind::WantParticipate,
    Kind::ParticipateAck,
    Kind::Reached,
    Kind::ReachedAck,
    Kind::Ready,
    Kind::ReadyAck,
    Kind::Free,
    Kind::FreeAck,
];

/// Numbers of barriers have 7 bits; the last of these says that there is none.
pub const NONE_FREE: u8 = 127;

/// A packet: 4 bits of type and 7 of the barrier's number, as printed; behind them what makes repeated
/// ones harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Packet {
    pub kind: Kind,
    /// Less than 128.
    pub id: u8,
    /// Which barrier in the life of the unit's row it is about.
    pub epoch: u32,
    /// Of set-up packets: which request of the host's it is or answers.
    pub request: u8,
}

impl Packet {
    /// The 11 bits of the printed format: type, then number.
    pub fn printed(self) -> u16 {
        (u16::from(self.kind as u8) << 7) | u16::from(self.id)
    }

    /// All 51 bits: the printed 11, then epoch and request.
    pub fn bits(self) -> u64 {
        (u64::from(self.printed()) << 40) | (u64::from(self.epoch) << 8) | u64::from(self.request)
    }

    /// Reads the printed format; nothing if there is no such type or a bit too many.
    pub fn from_printed(bits: u16) -> Option<Packet> {
        let kind = KINDS.into_iter().find(|k| u16::from(*k as u8) == bits >> 7)?;
        Some(Packet { kind, id: (bits & 127) as u8, epoch: 0, request: 0 })
    }

    /// Reads all 51 bits.
    pub fn from_bits(bits: u64) -> Option<Packet> {
        let printed = u16::try_from(bits >> 40).ok()?;
        Some(Packet { epoch: (bits >> 8) as u32, request: bits as u8, ..Packet::from_printed(printed)? })
    }

    /// Without what the printed format has no room for.
    pub fn as_printed(self) -> Packet {
        Packet { epoch: 0, request: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_format() {
        let packet = Packet { kind: Kind::Reached, id: 5, epoch: 0, request: 0 };
        assert_eq!(packet.printed(), 0b0111_0000101);
        assert!(KINDS.iter().all(|k| Packet { kind: *k, id: 127, epoch: 0, request: 0 }.printed() < 1 << 11));
    }

    #[test]
    fn what_is_written_is_read() {
        for kind in KINDS {
            for (id, epoch, request) in [(0, 0, 0), (127, u32::MAX, 255), (64, 77, 3)] {
                let packet = Packet { kind, id, epoch, request };
                assert_eq!(Packet::from_bits(packet.bits()), Some(packet));
                assert_eq!(Packet::from_printed(packet.printed()), Some(packet.as_printed()));
            }
        }
        for wrong in [0, 5 << 7, 6 << 7, 13 << 7, 15 << 7, 1 << 11] {
            assert_eq!(Packet::from_printed(wrong), None, "{wrong}");
        }
        assert_eq!(Packet::from_bits(u64::MAX), None);
    }
}
