//! The terminal cannot be drawn on.

use thiserror::Error;

/// Why the terminal cannot be drawn on.
#[derive(Debug, Error)]
#[error(
    "cannot show a live view on this terminal: {0}. `evenkeel top --once` prints one table without drawing."
)]
pub struct TerminalError(#[from] std::io::Error);
