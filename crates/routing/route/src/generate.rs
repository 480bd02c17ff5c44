//! Networks by rule or by chance. The same arguments and seed give the same network, today and later.

pub mod dragonfly;
pub mod fat_tree;
pub mod faults;
pub mod hierarchical;
pub mod irregular;
pub mod torus;

use crate::network::{NetworkBuilder, SwitchId};
use thiserror::Error;

pub use dragonfly::{Dragonfly, dragonfly};
pub use fat_tree::{FatTree, fat_tree};
pub use faults::{Faults, with_faults};
pub use hierarchical::{Hierarchical, hierarchical};
pub use irregular::{Irregular, irregular};
pub use torus::{Torus, torus};

/// Why a generator refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Impossible {
    #[error("{what} would need {ports} ports of a switch; the most is 254")]
    TooManyPorts { what: &'static str, ports: usize },
    #[error("{what} needs {need}")]
    Needs { what: &'static str, need: String },
    #[error("no network in {tries} tries was connected; ask for fewer faults or more links")]
    NeverConnected { tries: u32 },
}

/// The most ports that a forwarding table can name: 255 stands for "no path".
const MOST_PORTS: usize = 254;

fn port_count(what: &'static str, ports: usize) -> Result<u8, Impossible> {
    if ports > MOST_PORTS { Err(Impossible::TooManyPorts { what, ports }) } else { Ok(ports as u8) }
}

/// Gives each of the switches some end nodes.
fn populate(builder: &mut NetworkBuilder, switches: impl IntoIterator<Item = SwitchId>, each: usize) {
    let mut number = 0;
    for s in switches {
        for _ in 0..each {
            builder.add_end_node(format!("node{number}"), s);
            number += 1;
        }
    }
}
