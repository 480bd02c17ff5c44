//! The checker: reads a network and tables, knows nothing of how they were made, and proves or refutes
//! them.
//!
//! It follows every path that a packet can take, one hop at a time, and records which channel a packet
//! holds while it waits for which other. Packets cannot deadlock if on no virtual lane these dependencies
//! close a cycle (Dally and Seitz 1987). For tables, where a packet has no choice, the converse holds too.
//!
//! May use: of this crate, the network and the table only. Must never: share code with what builds tables.

mod cycle;
mod describe;
mod findings;
mod walk;

use crate::network::Network;
use crate::table::Table;
pub use findings::{Fault, Findings, MOST_FAULTS, Traffic};

/// Checks the packets from end nodes to end nodes.
pub fn check(network: &Network, table: &Table) -> Findings {
    check_traffic(network, table, Traffic::EndNodes)
}

/// Checks the packets of some traffic. Hops and loads are those of packets between end nodes in any case.
///
/// O(destinations · switches · hops).
pub fn check_traffic(network: &Network, table: &Table, traffic: Traffic) -> Findings {
    let mut walk = walk::Walk::new(network, table);
    for to in table.destinations() {
        walk.follow_to(to, traffic);
    }
    walk.findings()
}
