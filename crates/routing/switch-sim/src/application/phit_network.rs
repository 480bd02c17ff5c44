//! Programs on the phit simulator. A message is a packet, and a message to several hosts is a packet for
//! each.

use super::program::{Message, Program};
use crate::packet::Packet;
use crate::routing::Routing;
use crate::simulator::{NewPacket, SimulationError, Simulator, Workload};
use evenkeel_route::EndNodeId;

/// A program as the workload of the simulator.
struct ProgramWorkload<'a> {
    program: &'a mut Program,
    messages: Vec<Message>,
}

impl ProgramWorkload<'_> {
    /// Makes packets of the messages that the program sends.
    fn make_packets(&mut self, packets: &mut Vec<NewPacket>) {
        for message in self.messages.drain(..) {
            let packet = |to: &u32| NewPacket {
                source: EndNodeId(message.from),
                destination: EndNodeId(*to),
                phits: message.bytes.max(1),
                tag: u64::from(message.number),
            };
            packets.extend(message.to.iter().map(packet));
        }
    }
}

impl Workload for ProgramWorkload<'_> {
    fn next_time(&self) -> u64 {
        self.program.next_time()
    }

    fn generate(&mut self, now: u64, packets: &mut Vec<NewPacket>) {
        self.program.generate(now, &mut self.messages);
        self.make_packets(packets);
    }

    fn delivered(&mut self, now: u64, packet: &Packet, packets: &mut Vec<NewPacket>) {
        let message = packet.tag as u32;
        self.program.frame_arrived(now, message);
        self.program.message_arrived(now, message, packet.destination.0, &mut self.messages);
        self.make_packets(packets);
    }
}

/// Runs a program to its end. A phit is a byte.
///
/// # Errors
/// Packets are deadlocked, or the simulator has a bug.
pub(super) fn run<R: Routing>(
    simulator: &mut Simulator<R>,
    program: &mut Program,
) -> Result<(), SimulationError> {
    simulator.finish(u64::MAX / 2, &mut ProgramWorkload { program, messages: Vec::new() }).map(|_| ())
}
