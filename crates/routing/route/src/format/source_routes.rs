//! Tables as source routes, for networks whose senders write the whole path into the packet, as in Myrinet.
//!
//! ```text
//! # switch destination lane ports
//! 0x0005000000000000 0x0001000000000003 0 4 2
//! ```
//!
//! A line is about packets that end nodes at a switch send to a destination. The switch is named by its
//! GUID, the destination by the GUID of its port. A packet leaves this switch by the first port, the next
//! switch by the second, and so on. The last port leads to the destination. The lane is the destination's
//! virtual lane.

use crate::network::Network;
use crate::table::{Destination, Table};
use std::fmt::Write;

/// Writes the routes between all end nodes, in the order of switches and destinations.
///
/// Pairs between which the table has no path are left out. O(switches · end nodes · hops).
pub fn write(network: &Network, table: &Table) -> String {
    let mut out = String::from("# switch destination lane ports\n");
    for from in network.switch_ids().filter(|s| !network.end_nodes_at(*s).is_empty()) {
        for e in network.end_node_ids() {
            let to = Destination::EndNode(e);
            let (Some(path), Some(last)) =
                (table.path(network, from, to), table.port(to.switch(network), to))
            else {
                continue;
            };
            write!(
                out,
                "0x{:016x} 0x{:016x} {}",
                network.switch(from).guid,
                network.end_node(e).port_guid,
                table.lane(to)
            )
            .expect("memory");
            let ports = path.iter().map(|c| network.out_port(*c)).chain([last]);
            ports.for_each(|port| write!(out, " {}", port.0).expect("memory"));
            out.push('\n');
        }
    }
    out
}
