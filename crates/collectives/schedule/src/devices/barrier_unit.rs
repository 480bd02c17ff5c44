//! The barrier unit of a switch.

use super::packet::{NONE_FREE, Packet, PacketType, Protocol};

/// One barrier: two rows of flip-flops in the original, and an epoch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Row {
    in_use: bool,
    /// Bit n: the host on port n has entered.
    arrived: Vec<bool>,
    /// Bit n: the host on port n does not take part.
    absent: Vec<bool>,
    /// Bit n: the host on port n has not acknowledged that all have entered.
    unacknowledged: Vec<bool>,
    /// Barriers completed, and requests to free the row, since the switch was started. It is never reset,
    /// so that the unit recognizes a packet from an earlier use of the row.
    epoch: u32,
    /// The epoch with which the row was allocated, to which port, and at which of its requests.
    since: u32,
    creator: (usize, u8),
}

/// The barrier unit of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BarrierUnit {
    protocol: Protocol,
    ports: usize,
    rows: Vec<Row>,
    /// For each port: the newest request for a barrier. An older request has been answered already.
    requests: Vec<u8>,
}

/// A packet for the host on a port.
pub type PortPacket = (usize, Packet);

impl BarrierUnit {
    /// A unit with so many ports and barriers.
    ///
    /// # Panics
    /// If there are more than 127 barriers: one number says that none is free.
    pub fn new(protocol: Protocol, ports: usize, barriers: usize) -> BarrierUnit {
        assert!(barriers <= usize::from(NONE_FREE));
        let none = vec![false; ports];
        let row = Row {
            in_use: false,
            arrived: none.clone(),
            absent: none.clone(),
            unacknowledged: none,
            epoch: 0,
            since: 0,
            creator: (0, 0),
        };
        BarrierUnit { protocol, ports, rows: vec![row; barriers], requests: vec![0; ports] }
    }

    /// Receives a packet at a port. Returns the packets that go out.
    pub fn receive(&mut self, port: usize, packet: Packet) -> Vec<PortPacket> {
        let answer = |packet_type: PacketType, packet: Packet| (port, Packet { packet_type, ..packet });
        match packet.packet_type {
            PacketType::GetId => {
                self.allocate(port, packet).into_iter().map(|answer| (port, answer)).collect()
            }
            PacketType::WantParticipate => {
                let checks_epoch = self.protocol == Protocol::WithEpoch;
                if let Some(row) =
                    self.row(packet).filter(|row| row.in_use && (!checks_epoch || row.since == packet.epoch))
                {
                    row.absent[port] = false;
                }
                vec![answer(PacketType::ParticipateAck, packet)]
            }
            PacketType::Reached => {
                let mut out = vec![answer(PacketType::ReachedAck, packet)];
                out.extend(self.enter(port, packet));
                out
            }
            PacketType::ReadyAck => {
                let printed = self.protocol == Protocol::Printed;
                if let Some(row) = self.row(packet).filter(|row| printed || row.epoch == packet.epoch) {
                    row.unacknowledged[port] = false;
                }
                Vec::new()
            }
            PacketType::Free => {
                let printed = self.protocol == Protocol::Printed;
                if let Some(row) =
                    self.row(packet).filter(|row| printed || row.in_use && row.epoch == packet.epoch)
                {
                    row.in_use = false;
                    row.epoch += 1;
                    row.unacknowledged.fill(false);
                }
                vec![answer(PacketType::FreeAck, packet)]
            }
            // Units send these and do not receive them.
            PacketType::GetIdAck
            | PacketType::ParticipateAck
            | PacketType::ReachedAck
            | PacketType::Ready
            | PacketType::FreeAck => Vec::new(),
        }
    }

    /// The packets that it repeats because they have not been acknowledged.
    pub fn timeout(&self) -> Vec<PortPacket> {
        let mut out = Vec::new();
        for (id, row) in self.rows.iter().enumerate() {
            let ready = Packet { packet_type: PacketType::Ready, id: id as u8, epoch: row.epoch, request: 0 };
            out.extend((0..self.ports).filter(|port| row.unacknowledged[*port]).map(|port| (port, ready)));
        }
        out
    }

    fn row(&mut self, packet: Packet) -> Option<&mut Row> {
        self.rows.get_mut(usize::from(packet.id))
    }

    /// Allocates a free row without participants. A host that repeats a request gets the same row again,
    /// if the protocol numbers requests.
    fn allocate(&mut self, port: usize, packet: Packet) -> Option<Packet> {
        let (creator, checks_epoch) = ((port, packet.request), self.protocol == Protocol::WithEpoch);
        let repeated = self.rows.iter().position(|row| checks_epoch && row.in_use && row.creator == creator);
        // Request numbers wrap around. A number ahead of the newest by less than half the range is newer.
        let is_new = !checks_epoch || (packet.request.wrapping_sub(self.requests[port]) as i8) > 0;
        if repeated.is_none() && !is_new {
            return None;
        }
        self.requests[port] = packet.request;
        let free = || self.rows.iter().position(|row| !row.in_use);
        let Some(id) = repeated.or_else(free) else {
            return Some(Packet { packet_type: PacketType::GetIdAck, id: NONE_FREE, ..packet });
        };
        let row = &mut self.rows[id];
        if repeated.is_none() {
            row.in_use = true;
            row.arrived.fill(false);
            row.absent.fill(true);
            row.since = row.epoch;
            row.creator = creator;
        }
        Some(Packet {
            packet_type: PacketType::GetIdAck,
            id: id as u8,
            epoch: row.since,
            request: packet.request,
        })
    }

    /// A host has entered. Only here does the unit check whether all hosts have entered: before any host
    /// has registered, that would be true from the beginning.
    fn enter(&mut self, port: usize, packet: Packet) -> Vec<PortPacket> {
        let checks_epoch = self.protocol == Protocol::WithEpoch;
        let Some(row) = self.row(packet).filter(|row| row.in_use) else { return Vec::new() };
        if checks_epoch && packet.epoch != row.epoch + 1 {
            return Vec::new();
        }
        // A host that enters has left the previous barrier.
        row.unacknowledged[port] = false;
        row.arrived[port] = true;
        let ready = row.arrived.iter().zip(&row.absent).all(|(arrived, absent)| *arrived || *absent);
        if !ready {
            return Vec::new();
        }
        row.arrived.fill(false);
        row.unacknowledged = row.absent.iter().map(|absent| !absent).collect();
        row.epoch += 1;
        let ready = Packet { packet_type: PacketType::Ready, id: packet.id, epoch: row.epoch, request: 0 };
        (0..row.unacknowledged.len())
            .filter(|port| row.unacknowledged[*port])
            .map(|port| (port, ready))
            .collect()
    }
}

/// The number of flip-flops in the original: two rows of N + 1 bits for each barrier.
pub const fn flip_flops(ports: u64, barriers: u64) -> u64 {
    2 * barriers * (ports + 1)
}

/// The number of gates in sequence from the last arrival to "ready": one for the bits of each port, then
/// a tree of gates with two inputs.
pub const fn gate_depth(ports: u64) -> u32 {
    1 + ports.next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(packet_type: PacketType, id: u8, epoch: u32, request: u8) -> Packet {
        Packet { packet_type, id, epoch, request }
    }

    #[test]
    fn numbers_run_out_and_are_reused() {
        let mut unit = BarrierUnit::new(Protocol::WithEpoch, 2, 2);
        let ask = |unit: &mut BarrierUnit, request| {
            unit.receive(0, packet(PacketType::GetId, 0, 0, request))[0].1.id
        };
        assert_eq!((ask(&mut unit, 1), ask(&mut unit, 2), ask(&mut unit, 3)), (0, 1, NONE_FREE));
        assert_eq!(ask(&mut unit, 2), 1, "a repeated request");
        unit.receive(0, packet(PacketType::Free, 0, 0, 4));
        let next = unit.receive(0, packet(PacketType::GetId, 0, 0, 5))[0].1;
        assert_eq!((next.id, next.epoch), (0, 1));
        // If it were obeyed, this repeated packet would free the barrier of another host.
        unit.receive(0, packet(PacketType::Free, 0, 0, 4));
        assert_eq!(ask(&mut unit, 6), NONE_FREE);
    }

    #[test]
    fn printed_requests_leak_numbers_when_repeated() {
        let mut unit = BarrierUnit::new(Protocol::Printed, 2, 2);
        let ids: Vec<u8> =
            (0..3).map(|_| unit.receive(0, packet(PacketType::GetId, 0, 0, 0))[0].1.id).collect();
        assert_eq!(ids, [0, 1, NONE_FREE]);
    }

    #[test]
    fn sizes_agree_with_the_design() {
        assert_eq!(flip_flops(512, 128), 131_328);
        assert_eq!([1, 2, 64, 512].map(gate_depth), [1, 2, 7, 10]);
    }
}
