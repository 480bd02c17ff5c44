//! The packets between hosts and the barrier unit of the switch.

/// Which of the two protocols of the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// As printed: packets of 11 bits. A repeated packet cannot be told from a new one.
    Printed,
    /// With the epoch behind the 11 bits.
    WithEpoch,
}

/// The types of packets with their codes. Codes 5 and 6 are not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum PacketType {
    /// A host asks for a new barrier.
    GetId = 1,
    /// The number of the barrier, or [`NONE_FREE`].
    GetIdAck = 2,
    /// A host will take part in a barrier.
    WantParticipate = 3,
    /// Acknowledges [`PacketType::WantParticipate`].
    ParticipateAck = 4,
    /// A host has entered.
    Reached = 7,
    /// Acknowledges [`PacketType::Reached`].
    ReachedAck = 8,
    /// All hosts have entered.
    Ready = 9,
    /// Acknowledges [`PacketType::Ready`].
    ReadyAck = 10,
    /// A host no longer needs the barrier.
    Free = 11,
    /// Acknowledges [`PacketType::Free`].
    FreeAck = 12,
}

const TYPES: [PacketType; 10] = [
    PacketType::GetId,
    PacketType::GetIdAck,
    PacketType::WantParticipate,
    PacketType::ParticipateAck,
    PacketType::Reached,
    PacketType::ReachedAck,
    PacketType::Ready,
    PacketType::ReadyAck,
    PacketType::Free,
    PacketType::FreeAck,
];

/// The number that says that no barrier is free. Numbers have 7 bits; this is the last one.
pub const NONE_FREE: u8 = 127;

/// A packet: 4 bits of type and 7 of the barrier's number, as printed, then the fields that make repeated
/// packets harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Packet {
    /// The type.
    pub packet_type: PacketType,
    /// The number of the barrier, less than 128.
    pub id: u8,
    /// Which use of the unit's row it refers to: see [`barrier_unit`](super::barrier_unit).
    pub epoch: u32,
    /// For set-up packets: the number of the host's request.
    pub request: u8,
}

impl Packet {
    /// The 11 bits of the printed format: type, then number.
    pub fn printed(self) -> u16 {
        (u16::from(self.packet_type as u8) << 7) | u16::from(self.id)
    }

    /// All 51 bits: the printed 11, then epoch and request.
    pub fn bits(self) -> u64 {
        (u64::from(self.printed()) << 40) | (u64::from(self.epoch) << 8) | u64::from(self.request)
    }

    /// Reads the printed format. None if there is no such type or one bit too many.
    pub fn from_printed(bits: u16) -> Option<Packet> {
        let packet_type = TYPES.into_iter().find(|t| u16::from(*t as u8) == bits >> 7)?;
        Some(Packet { packet_type, id: (bits & 127) as u8, epoch: 0, request: 0 })
    }

    /// Reads all 51 bits. None as for [`Packet::from_printed`].
    pub fn from_bits(bits: u64) -> Option<Packet> {
        let printed = u16::try_from(bits >> 40).ok()?;
        Some(Packet { epoch: (bits >> 8) as u32, request: bits as u8, ..Packet::from_printed(printed)? })
    }

    /// The packet without the fields that the printed format lacks.
    pub fn as_printed(self) -> Packet {
        Packet { epoch: 0, request: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_bits_follow_the_format() {
        let packet = Packet { packet_type: PacketType::Reached, id: 5, epoch: 0, request: 0 };
        assert_eq!(packet.printed(), 0b0111_0000101);
        assert!(
            TYPES
                .iter()
                .all(|t| Packet { packet_type: *t, id: 127, epoch: 0, request: 0 }.printed() < 1 << 11)
        );
    }

    #[test]
    fn written_packets_are_read_back() {
        for packet_type in TYPES {
            for (id, epoch, request) in [(0, 0, 0), (127, u32::MAX, 255), (64, 77, 3)] {
                let packet = Packet { packet_type, id, epoch, request };
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
