//! What commands show while they measure.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of 1000 steps, on standard error, and only on a terminal.
pub fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(1000);
    bar.set_style(
        ProgressStyle::with_template("{spinner} measuring {bar:40} {percent}%, {eta} left")
            .expect("a constant template"),
    );
    bar
}
