//! `evenkeel route generate`: networks by rule or by chance.

use crate::commands::route::arguments::{Generate, Kind};
use crate::commands::route::command::refuse;
use crate::errors::Failure;
use crate::output::file::write;
use evenkeel_route::format::{edge_list, ibnetdiscover};
use evenkeel_route::generate::{self, Dragonfly, Failures, FatTree, Hierarchical, Irregular, Torus};

/// Makes the network and writes it to the file, or returns it to be printed.
pub fn generate(arguments: &Generate) -> Result<String, Failure> {
    let seed = arguments.seed;
    let whole = match &arguments.kind {
        Kind::Irregular { switches, degree, end_nodes, parallel } => generate::irregular(
            Irregular {
                switches: *switches as usize,
                degree: *degree,
                end_nodes: *end_nodes,
                parallel: *parallel,
            },
            seed,
        ),
        Kind::Hierarchical { groups, switches, degree, uplinks, end_nodes } => generate::hierarchical(
            Hierarchical {
                groups: *groups,
                switches: *switches,
                degree: *degree,
                uplinks: *uplinks,
                end_nodes: *end_nodes,
            },
            seed,
        ),
        Kind::FatTree { children, parents } => {
            generate::fat_tree(&FatTree { children: children.clone(), parents: parents.clone() })
        }
        Kind::Torus { sizes, mesh, cables, end_nodes } => generate::torus(&Torus {
            sizes: sizes.clone(),
            wrapped: !mesh,
            cables: *cables,
            end_nodes: *end_nodes,
        }),
        Kind::Dragonfly { groups, switches, global, end_nodes } => generate::dragonfly(Dragonfly {
            groups: *groups,
            switches: *switches,
            global: *global,
            end_nodes: *end_nodes,
        }),
    };
    let failures = Failures { cables: arguments.cut, switches: arguments.dead };
    let network = whole.and_then(|whole| {
        if failures == Failures::default() {
            Ok(whole)
        } else {
            generate::with_failures(&whole, failures, seed)
        }
    });
    let network = network.map_err(|e| refuse(e.to_string()))?;
    let text = if arguments.edges { edge_list::write(&network) } else { ibnetdiscover::write(&network) };
    match &arguments.output {
        None => Ok(text),
        Some(file) => {
            write(file, &text)?;
            Ok(format!(
                "{} switches, {} end nodes, {} cables between switches: {} written.\n",
                network.switches().len(),
                network.end_nodes().len(),
                network.channels() / 2,
                file.display()
            ))
        }
    }
}
