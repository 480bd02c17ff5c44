//! What commands write: files, progress bars, plots.

pub mod file;
pub mod plot_style;
pub mod progress;
