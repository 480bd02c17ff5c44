//! Sentences about faults, with the names of nodes and the numbers of ports.

use super::findings::Fault;
use crate::network::{Channel, Network, SwitchId};
use crate::table::Destination;

impl Fault {
    /// A sentence about the fault. For loops and cycles it has several lines.
    pub fn describe(&self, network: &Network) -> String {
        match self {
            Fault::NoEntry { at, to } => {
                format!("{} has no entry for {}", switch(network, *at), destination(network, *to))
            }
            Fault::WrongPort { at, to, port } => {
                format!(
                    "{} forwards packets for {} to port {}, which does not lead there",
                    switch(network, *at),
                    destination(network, *to),
                    port.0
                )
            }
            Fault::Loop { to, channels } => {
                let lines: Vec<String> =
                    channels.iter().map(|c| format!("\n  {}", channel(network, *c))).collect();
                format!("packets to {} go round for ever:{}", destination(network, *to), lines.concat())
            }
            Fault::Cycle { lane, waits } => {
                let lines = waits.iter().enumerate().map(|(i, (c, to))| {
                    let next = waits[(i + 1) % waits.len()].0;
                    format!(
                        "\n  {} waits for {} (packets to {})",
                        channel(network, *c),
                        channel(network, next),
                        destination(network, *to)
                    )
                });
                format!(
                    "lane {lane} can deadlock, because {} channels wait for each other in a cycle:{}",
                    waits.len(),
                    lines.collect::<String>()
                )
            }
        }
    }
}

fn switch(network: &Network, s: SwitchId) -> String {
    format!("switch `{}`", network.switch(s).name)
}

fn destination(network: &Network, to: Destination) -> String {
    match to {
        Destination::EndNode(e) => format!("`{}`", network.end_node(e).name),
        Destination::Switch(s) => switch(network, s),
    }
}

fn channel(network: &Network, c: Channel) -> String {
    let end = |s: SwitchId, port: u8| format!("{}[{port}]", network.switch(s).name);
    format!("{} -> {}", end(network.from(c), network.out_port(c).0), end(network.to(c), network.in_port(c).0))
}
