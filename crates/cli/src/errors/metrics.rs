//! Metrics cannot be served.

use std::net::SocketAddr;
use thiserror::Error;

/// Why metrics cannot be served.
#[derive(Debug, Error)]
pub enum MetricsError {
    /// The address cannot be listened at.
    #[error(
        "cannot serve metrics at {address}: {cause}. Choose another address with --listen, for instance \
         `--listen 127.0.0.1:9465`, or write a file with --file."
    )]
    Listen {
        /// The address and port.
        address: SocketAddr,
        /// What the kernel says.
        cause: String,
    },
}
