//! A program on the phit simulator: a message is a packet, and one to several hosts is a packet for each.

use super::program::{Program, Send};
use crate::routing::Routing;
use crate::simulator::packet::Packet;
use crate::simulator::{Halt, Post, Simulator, Workload};
use evenkeel_route::EndNodeId;

struct Posting<'a> {
    program: &'a mut Program,
    sends: Vec<Send>,
}

impl Posting<'_> {
    fn post(&mut self, posts: &mut Vec<Post>) {
        for send in self.sends.drain(..) {
            let post = |to: &u32| Post {
                source: EndNodeId(send.from),
                destination: EndNodeId(*to),
                phits: send.bytes.max(1),
                tag: u64::from(send.message),
            };
            posts.extend(send.to.iter().map(post));
        }
    }
}

impl Workload for Posting<'_> {
    fn next(&self) -> u64 {
        self.program.next()
    }

    fn act(&mut self, now: u64, posts: &mut Vec<Post>) {
        self.program.act(now, &mut self.sends);
        self.post(posts);
    }

    fn delivered(&mut self, now: u64, packet: &Packet, posts: &mut Vec<Post>) {
        let message = packet.tag as u32;
        self.program.piece(now, message);
        self.program.received(now, message, packet.destination.0, &mut self.sends);
        self.post(posts);
    }
}

/// Runs a program to its end; a phit is a byte.
///
/// # Errors
/// A deadlock.
pub fn run<R: Routing>(simulator: &mut Simulator<R>, program: &mut Program) -> Result<(), Halt> {
    simulator.finish(u64::MAX / 2, &mut Posting { program, sends: Vec::new() }).map(|_| ())
}
