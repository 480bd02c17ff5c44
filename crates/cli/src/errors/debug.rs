//! The page of `evenkeel debug` cannot be served.

use thiserror::Error;

/// Why the page cannot be served.
#[derive(Debug, Error)]
pub enum DebugError {
    /// The port cannot be listened at.
    #[error(
        "cannot serve the page at 127.0.0.1:{port}: {cause}. Leave --port out for a port that is free, \
         or use --text for answers without a page."
    )]
    Listen {
        /// The port.
        port: u16,
        /// What the kernel says.
        cause: String,
    },
}
