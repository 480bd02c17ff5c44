//! The command line of `evenkeel noise`.

use crate::commands::value_parsers::{between, core_list};
use std::path::PathBuf;

/// Measure how often, and for how long, this machine does not respond
///
/// Runs on every core at once, as ranks do. For half of the time each core repeats the same small piece of
/// work; what a piece takes longer than the fastest one is a delay. For the other half it only reads the
/// clock; the time between two readings is a gap. Context switches are counted beside both. For each length
/// of delays and gaps the output gives their correlation with context switches: r near 1 means that another
/// process ran, r near 0 that it was interrupts, the hypervisor or the processor's clock. The output also
/// says how often the CPU quota was exceeded and how much time the hypervisor took.
///
/// A program whose ranks meet at a barrier every quantum loses the longest delay of all ranks each time. What
/// one core loses here is the least that such a program loses.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel noise                              ten seconds, quanta of a millisecond
  evenkeel noise --seconds 60 --html noise.html
  evenkeel noise --quantum-us 100             finer: delays of a few microseconds count
  evenkeel noise --cores 2-3                  two cores only
  evenkeel noise --json before.json           to compare with another day, machine or kernel

Do not quieten the machine before: its everyday noise is what is measured.
To see what a program makes of noise, disturb it on purpose: evenkeel run --inject.")]
pub struct NoiseArguments {
    /// How long to measure
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = between::<20, 86_400_000>)]
    pub seconds: f64,
    /// How long a quantum of work takes when nothing disturbs it
    #[arg(long, value_name = "MICROSECONDS", default_value = "1000")]
    #[arg(value_parser = between::<1_000, 1_000_000_000>)]
    pub quantum_us: f64,
    /// Gaps shorter than this are not counted
    #[arg(long, value_name = "MICROSECONDS", default_value = "1")]
    #[arg(value_parser = between::<100, 1_000_000_000>)]
    pub gap_us: f64,
    /// Which cores: 0-3,8. Without it, all that this process may use
    #[arg(long, value_name = "LIST", value_parser = core_list)]
    pub cores: Option<String>,
    /// Write all numbers to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a self-contained HTML page with plots to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write every gap and its time to this file, for `evenkeel simulate --noise FILE`
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}
