//! Why a network cannot be generated.

use thiserror::Error;

/// Why a network cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GenerateError {
    /// A forwarding table cannot name so many ports.
    #[error("{what} would need {ports} ports of a switch; the most is 254")]
    TooManyPorts {
        /// The kind of network.
        what: &'static str,
        /// The ports that a switch would need.
        ports: usize,
    },
    /// A network larger than any that is built; it would need too much memory.
    #[error("{what} of this shape has more than {most} {parts}; ask for fewer")]
    TooLarge {
        /// The kind of network.
        what: &'static str,
        /// Switches, or end nodes.
        parts: &'static str,
        /// The most of them.
        most: usize,
    },
    /// The parameters contradict each other.
    #[error("{what} needs {need}")]
    Needs {
        /// The kind of network.
        what: &'static str,
        /// What the parameters lack.
        need: String,
    },
    /// Random choices never gave a connected network.
    #[error("no network in {tries} tries was connected; ask for fewer failures or more links")]
    NeverConnected {
        /// How many networks were tried.
        tries: u32,
    },
}

/// The most ports that a forwarding table can name: 255 stands for "no path".
const MOST_PORTS: usize = 254;

/// The number of ports of a switch, if a table can name so many.
pub(super) fn port_count(what: &'static str, ports: usize) -> Result<u8, GenerateError> {
    if ports > MOST_PORTS { Err(GenerateError::TooManyPorts { what, ports }) } else { Ok(ports as u8) }
}

/// The most switches of a network, and the most end nodes.
const MOST_SWITCHES: usize = 100_000;
const MOST_END_NODES: usize = 1_000_000;

/// The number of switches: the product of these numbers.
pub(super) fn switch_count(
    what: &'static str,
    factors: impl IntoIterator<Item = usize>,
) -> Result<usize, GenerateError> {
    count(what, "switches", MOST_SWITCHES, factors)
}

/// Refuses too many end nodes: the product of these numbers.
pub(super) fn check_end_nodes(
    what: &'static str,
    factors: impl IntoIterator<Item = usize>,
) -> Result<(), GenerateError> {
    count(what, "end nodes", MOST_END_NODES, factors).map(|_| ())
}

fn count(
    what: &'static str,
    parts: &'static str,
    most: usize,
    factors: impl IntoIterator<Item = usize>,
) -> Result<usize, GenerateError> {
    let product = factors.into_iter().try_fold(1usize, |product, factor| product.checked_mul(factor));
    product.filter(|count| *count <= most).ok_or(GenerateError::TooLarge { what, parts, most })
}
