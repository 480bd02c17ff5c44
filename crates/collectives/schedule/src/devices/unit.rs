//! The barrier unit of a switch.

use super::Protocol;
use super::packet::{Kind, NONE_FREE, Packet};

/// One barrier: two rows of flip-flops in the original, and its epoch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Row {
    in_use: bool,
    /// Bit n: the host on port n has entered.
    arrived: Vec<bool>,
    /// Bit n: the host on port n does not take part.
    absent: Vec<bool>,
    /// Bit n: the host on port n has not acknowledged that all have entered.
    untold: Vec<bool>,
    /// Barriers held, and requests to free it, since the switch was started. Never set back, so that a
    /// packet from an earlier life of the row is known as such.
    epoch: u32,
    /// The epoch with which it was handed out, to whom, and at which of its requests.
    since: u32,
    creator: (usize, u8),
}

/// The unit of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    protocol: Protocol,
    ports: usize,
    rows: Vec<Row>,
    /// Of each port: the newest request for a barrier that was heard. An older one has been answered, and
    /// is no request any more.
    requests: Vec<u8>,
}

/// A packet for the host on a port.
pub type Sent = (usize, Packet);

impl Unit {
    /// `barriers` is at most 127: one number says that none is free.
    pub fn new(protocol: Protocol, ports: usize, barriers: usize) -> Unit {
        assert!(barriers <= usize::from(NONE_FREE));
        let none = vec![false; ports];
        let row = Row {
            in_use: false,
            arrived: none.clone(),
            absent: none.clone(),
            untold: none,
            epoch: 0,
            since: 0,
            creator: (0, 0),
        };
        Unit { protocol, ports, rows: vec![row; barriers], requests: vec![0; ports] }
    }

    /// A packet comes in at a port; what goes out.
    pub fn receive(&mut self, port: usize, packet: Packet) -> Vec<Sent> {
        let answer = |kind: Kind, packet: Packet| (port, Packet { kind, ..packet });
        match packet.kind {
            Kind::GetId => self.hand_out(port, packet).into_iter().map(|answer| (port, answer)).collect(),
            Kind::WantParticipate => {
                let known = self.protocol == Protocol::WithEpoch;
                if let Some(row) =
                    self.row(packet).filter(|row| row.in_use && (!known || row.since == packet.epoch))
                {
                    row.absent[port] = false;
                }
                vec![answer(Kind::ParticipateAck, packet)]
            }
            Kind::Reached => {
                let mut out = vec![answer(Kind::ReachedAck, packet)];
                out.extend(self.enter(port, packet));
                out
            }
            Kind::ReadyAck => {
                let printed = self.protocol == Protocol::Printed;
                if let Some(row) = self.row(packet).filter(|row| printed || row.epoch == packet.epoch) {
                    row.untold[port] = false;
                }
                Vec::new()
            }
            Kind::Free => {
                let printed = self.protocol == Protocol::Printed;
                if let Some(row) =
                    self.row(packet).filter(|row| printed || row.in_use && row.epoch == packet.epoch)
                {
                    row.in_use = false;
                    row.epoch += 1;
                    row.untold.fill(false);
                }
                vec![answer(Kind::FreeAck, packet)]
            }
            // Said by units, not to them.
            Kind::GetIdAck | Kind::ParticipateAck | Kind::ReachedAck | Kind::Ready | Kind::FreeAck => {
                Vec::new()
            }
        }
    }

    /// Says again what has not been acknowledged.
    pub fn timeout(&self) -> Vec<Sent> {
        let mut out = Vec::new();
        for (id, row) in self.rows.iter().enumerate() {
            let ready = Packet { kind: Kind::Ready, id: id as u8, epoch: row.epoch, request: 0 };
            out.extend((0..self.ports).filter(|port| row.untold[*port]).map(|port| (port, ready)));
        }
        out
    }

    fn row(&mut self, packet: Packet) -> Option<&mut Row> {
        self.rows.get_mut(usize::from(packet.id))
    }

    /// A free row, with nobody in it. A host that asks again gets the same one again, if its requests can
    /// be told apart.
    fn hand_out(&mut self, port: usize, packet: Packet) -> Option<Packet> {
        let (creator, known) = ((port, packet.request), self.protocol == Protocol::WithEpoch);
        let again = self.rows.iter().position(|row| known && row.in_use && row.creator == creator);
        // Numbers of requests go around; what is ahead of the newest by less than half of them is newer.
        let is_new = !known || (packet.request.wrapping_sub(self.requests[port]) as i8) > 0;
        if again.is_none() && !is_new {
            return None;
        }
        self.requests[port] = packet.request;
        let free = || self.rows.iter().position(|row| !row.in_use);
        let Some(id) = again.or_else(free) else {
            return Some(Packet { kind: Kind::GetIdAck, id: NONE_FREE, ..packet });
        };
        let row = &mut self.rows[id];
        if again.is_none() {
            row.in_use = true;
            row.arrived.fill(false);
            row.absent.fill(true);
            row.since = row.epoch;
            row.creator = creator;
        }
        Some(Packet { kind: Kind::GetIdAck, id: id as u8, epoch: row.since, request: packet.request })
    }

    /// A host has entered. Whether all have is looked at here and nowhere else: with nobody registered yet,
    /// it would be true from the beginning.
    fn enter(&mut self, port: usize, packet: Packet) -> Vec<Sent> {
        let known = self.protocol == Protocol::WithEpoch;
        let Some(row) = self.row(packet).filter(|row| row.in_use) else { return Vec::new() };
        if known && packet.epoch != row.epoch + 1 {
            return Vec::new();
        }
        // Who enters has left the barrier before.
        row.untold[port] = false;
        row.arrived[port] = true;
        let ready = row.arrived.iter().zip(&row.absent).all(|(arrived, absent)| *arrived || *absent);
        if !ready {
            return Vec::new();
        }
        row.arrived.fill(false);
        row.untold = row.absent.iter().map(|absent| !absent).collect();
        row.epoch += 1;
        let ready = Packet { kind: Kind::Ready, id: packet.id, epoch: row.epoch, request: 0 };
        (0..row.untold.len()).filter(|port| row.untold[*port]).map(|port| (port, ready)).collect()
    }
}

/// Flip-flops of the original: two rows of N + 1 bits for each barrier.
pub const fn flip_flops(ports: u64, barriers: u64) -> u64 {
    2 * barriers * (ports + 1)
}

/// Gates one after the other from the last arrival to "ready": one for each port's bits, then a tree of
/// gates with two inputs.
pub const fn gate_depth(ports: u64) -> u32 {
    1 + ports.next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(kind: Kind, id: u8, epoch: u32, request: u8) -> Packet {
        Packet { kind, id, epoch, request }
    }

    #[test]
    fn ids_run_out_and_come_back() {
        let mut unit = Unit::new(Protocol::WithEpoch, 2, 2);
        let ask = |unit: &mut Unit, request| unit.receive(0, packet(Kind::GetId, 0, 0, request))[0].1.id;
        assert_eq!((ask(&mut unit, 1), ask(&mut unit, 2), ask(&mut unit, 3)), (0, 1, NONE_FREE));
        assert_eq!(ask(&mut unit, 2), 1, "asked again");
        unit.receive(0, packet(Kind::Free, 0, 0, 4));
        let next = unit.receive(0, packet(Kind::GetId, 0, 0, 5))[0].1;
        assert_eq!((next.id, next.epoch), (0, 1));
        // Repeated, it would free what belongs to somebody else now.
        unit.receive(0, packet(Kind::Free, 0, 0, 4));
        assert_eq!(ask(&mut unit, 6), NONE_FREE);
    }

    #[test]
    fn printed_requests_leak_ids_when_repeated() {
        let mut unit = Unit::new(Protocol::Printed, 2, 2);
        let ids: Vec<u8> = (0..3).map(|_| unit.receive(0, packet(Kind::GetId, 0, 0, 0))[0].1.id).collect();
        assert_eq!(ids, [0, 1, NONE_FREE]);
    }

    #[test]
    fn sizes_are_those_of_the_design() {
        assert_eq!(flip_flops(512, 128), 131_328);
        assert_eq!([1, 2, 64, 512].map(gate_depth), [1, 2, 7, 10]);
    }
}
