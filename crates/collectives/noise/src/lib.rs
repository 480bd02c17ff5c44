//! How often, and for how long, the cores of this machine do not respond to a program that wants to run
//! on them.
//!
//! [`measure()`] takes two traces on each core. *Fixed work quanta*: the same computation again and
//! again, each timed. The excess over the fastest quantum is a *delay*. *Gaps*: a process only reads the
//! clock, and the time between two readings in which it did not run is a *gap*. Context switches are
//! counted with both, window by window.
//!
//! [`summarize`] computes numbers from the traces: delays and gaps by length, and for each length the
//! correlation with context switches (Pakin 2001, section 5.2: negative for the shortest lengths, almost
//! 1 for 100-1000 µs). [`text`] and [`html`] show them. [`gap_trace`] keeps all gaps, for replay in a
//! simulation.
//!
//! May use: tables and the page of reports, system calls for binding and counting in `measure`. Must
//! never: touch the machine outside of `measure`, or know anything of MPI or of evenkeel's own runs.

mod bins;
mod correlation;
mod counters;
mod gaps;
mod measure;
mod record;
mod summary;
mod text;

pub use bins::{BINS, Bin, bin_of, edges_ns};
pub use correlation::pearson;
pub use counters::{Throttling, parse_cpu_stat, parse_steal_ns};
pub use gaps::{CoreGaps, GapTrace, gap_trace};
pub use measure::{CoreTrace, MeasurementPlan, Window, measure};
pub use record::{CoreNoise, Correlation, LengthClass, NoiseSummary};
pub use summary::{Conditions, SLOW_SHARE, summarize};
pub use text::text;

/// The measurement as one self-contained HTML page that loads nothing. Without scripts it shows [`text`].
pub fn html(noise: &NoiseSummary) -> String {
    evenkeel_report::document("noise of this machine", &noise.version, noise, &text(noise, 100))
}
