//! Why parameters cannot be used, and the checks that find it.

use crate::Model;
use thiserror::Error;

/// Why parameters cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ParameterError {
    /// The file has another layout.
    #[error("their layout is number {found}, and this evenkeel knows {known}")]
    Schema {
        /// The number of the layout of the file.
        found: u32,
        /// The number that is known.
        known: u32,
    },
    /// There is neither a network nor a node.
    #[error("they describe neither a network nor a node")]
    Empty,
    /// A number is negative, infinite or NaN.
    #[error("{of} is {value}; it must be a number, and not negative")]
    Number {
        /// What the number is.
        of: &'static str,
        /// Its value.
        value: f64,
    },
    /// A count is 0.
    #[error("{of} must be at least 1")]
    None {
        /// What is counted.
        of: &'static str,
    },
    /// A node holds some of the ranks, but nothing connects the nodes.
    #[error("a node holds {0} ranks, but there is no network between nodes")]
    NoNetwork(u32),
    /// A function of LoP has a pole.
    #[error("o(p) or RTT(p) has a pole at or above one peer: {of} is {value}, it must be more than -1")]
    Pole {
        /// The parameter.
        of: &'static str,
        /// Its value.
        value: f64,
    },
}

/// Whether the numbers of a model make sense.
pub(crate) fn check_model(model: &Model) -> Result<(), ParameterError> {
    match model {
        Model::LogGp(m) => {
            not_negative("latency_ns", m.latency_ns)?;
            not_negative("send_overhead_ns", m.send_overhead_ns)?;
            not_negative("receive_overhead_ns", m.receive_overhead_ns)?;
            not_negative("gap_ns", m.gap_ns)?;
            not_negative("gap_per_byte_ns", m.gap_per_byte_ns)
        }
        Model::LoP(m) => {
            if m.most_peers == 0 {
                return Err(ParameterError::None { of: "most_peers" });
            }
            for (of, value) in [
                ("start_up_shift of the round trip", m.round_trip.start_up_shift),
                ("start_up_shift of the send overhead", m.send_overhead.start_up_shift),
                ("start_up_shift of the receive overhead", m.receive_overhead.start_up_shift),
            ] {
                if value.is_nan() || value <= -1.0 {
                    return Err(ParameterError::Pole { of, value });
                }
            }
            for peers in 1..=m.most_peers.min(1 << 16) {
                not_negative("the round trip", m.round_trip.at_ns(peers))?;
                not_negative("the send overhead", m.send_overhead.at_ns(peers))?;
                not_negative("the receive overhead", m.receive_overhead.at_ns(peers))?;
            }
            Ok(())
        }
    }
}

/// Whether a number is finite and not negative.
pub(crate) fn not_negative(of: &'static str, value: f64) -> Result<(), ParameterError> {
    if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(ParameterError::Number { of, value }) }
}
