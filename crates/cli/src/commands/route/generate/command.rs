//! Carries out `evenkeel route generate`.

use super::arguments::{GenerateArguments, Topology};
use crate::commands::route::network_file;
use crate::errors::{CommandError, RouteReason};
use crate::output::file;
use evenkeel_route::Network;
use evenkeel_route::format::{edge_list, ibnetdiscover};
use evenkeel_route::generate::{self, Dragonfly, Failures, FatTree, Hierarchical, Irregular, Torus};

/// Makes the network and writes it to the file, or returns it to be printed.
pub fn generate(arguments: &GenerateArguments) -> Result<String, CommandError> {
    file::check_outputs(&[("--output", arguments.output.as_deref())], &[])?;
    let failures = Failures { cables: arguments.cut, switches: arguments.dead };
    let whole = whole_network(&arguments.topology, arguments.seed);
    let network = whole.and_then(|whole| match failures == Failures::default() {
        true => Ok(whole),
        false => generate::with_failures(&whole, failures, arguments.seed),
    });
    let network = network.map_err(|e| RouteReason::Generator(e.to_string()))?;
    let text = if arguments.edges { edge_list::write(&network) } else { ibnetdiscover::write(&network) };
    match &arguments.output {
        None => Ok(text),
        Some(file) => {
            file::write(file, &text)?;
            Ok(format!("{}: {} written.\n", network_file::size(&network), file.display()))
        }
    }
}

fn whole_network(topology: &Topology, seed: u64) -> Result<Network, generate::GenerateError> {
    match topology {
        &Topology::Irregular { switches, degree, end_nodes, parallel } => {
            let switches = switches as usize;
            generate::irregular(Irregular { switches, degree, end_nodes, parallel }, seed)
        }
        &Topology::Hierarchical { groups, switches, degree, uplinks, end_nodes } => {
            generate::hierarchical(Hierarchical { groups, switches, degree, uplinks, end_nodes }, seed)
        }
        Topology::FatTree { children, parents } => {
            generate::fat_tree(&FatTree { children: children.clone(), parents: parents.clone() })
        }
        Topology::Torus { sizes, mesh, cables, end_nodes } => generate::torus(&Torus {
            sizes: sizes.clone(),
            wrapped: !mesh,
            cables: *cables,
            end_nodes: *end_nodes,
        }),
        &Topology::Dragonfly { groups, switches, global, end_nodes } => {
            generate::dragonfly(Dragonfly { groups, switches, global, end_nodes })
        }
    }
}
