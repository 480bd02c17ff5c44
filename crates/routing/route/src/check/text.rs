//! Faults in words, by the names of nodes and the numbers of ports.

use super::Fault;
use crate::network::{Channel, Network, SwitchId};
use crate::table::Destination;

impl Fault {
    /// The fault in one or, for loops and cycles, several lines.
    pub fn describe(&self, network: &Network) -> String {
        match self {
            Fault::NoEntry { at, to } => {
                format!("{} has no entry for {}", switch(network, *at), destination(network, *to))
            }
            Fault::WrongPort { at, to, port } => {
                format!(
                    "{} sends what is for {} to port {}, which does not lead there",
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
                    "lane {lane} can deadlock, for {} channels wait for each other in a ring:{}",
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
