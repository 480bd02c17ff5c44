//! Tables as source routes, for networks whose senders put the whole path into the packet, as in
//! Myrinet.
//!
//! ```text
//! # switch destination lane ports
//! 0x0005000000000000 0x0001000000000003 0 4 2
//! ```
//!
//! What end nodes at the switch send to the destination (both by GUID, the destination by that of its
//! port) leaves this switch by the first port, the next one on the way by the second, and so on; the
//! last port leads to the destination. The lane is the table's for the destination.

use crate::network::Network;
use crate::table::{Destination, Table, home};
use std::fmt::Write;

/// The routes between all end nodes, in the order of the switches and destinations. Pairs that the
/// table does not join are left out. O(switches · end nodes · hops).
pub fn write(network: &Network, table: &Table) -> String {
    let mut out = String::from("# switch destination lane ports\n");
    for from in network.switch_ids().filter(|s| !network.attached(*s).is_empty()) {
        for e in network.end_node_ids() {
            let to = Destination::EndNode(e);
            let (Some(path), Some(last)) = (table.path(network, from, to), table.port(home(network, to), to))
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
