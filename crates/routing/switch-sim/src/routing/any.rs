//! A routing function of any kind, for code that chooses at run time.

use super::escape::EscapeRouting;
use super::function::{Routing, VirtualLane};
use super::source::SourceRouting;
use super::table::TableRouting;
use crate::packet::Packet;
use evenkeel_route::SwitchId;

/// Any of the routing functions.
#[derive(Clone, Debug)]
pub enum AnyRouting {
    /// By forwarding tables.
    Table(TableRouting),
    /// By source routes.
    Source(SourceRouting),
    /// Minimal adaptive, with escape paths.
    Escape(EscapeRouting),
}

impl Routing for AnyRouting {
    fn candidates(&self, at: SwitchId, from: VirtualLane, packet: &Packet, out: &mut Vec<VirtualLane>) {
        match self {
            AnyRouting::Table(r) => r.candidates(at, from, packet, out),
            AnyRouting::Source(r) => r.candidates(at, from, packet, out),
            AnyRouting::Escape(r) => r.candidates(at, from, packet, out),
        }
    }

    fn first_lanes(&self, packet: &Packet, lanes: u8, out: &mut Vec<u8>) {
        match self {
            AnyRouting::Table(r) => r.first_lanes(packet, lanes, out),
            AnyRouting::Source(r) => r.first_lanes(packet, lanes, out),
            AnyRouting::Escape(r) => r.first_lanes(packet, lanes, out),
        }
    }
}
