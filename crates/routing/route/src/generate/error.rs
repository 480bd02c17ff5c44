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
