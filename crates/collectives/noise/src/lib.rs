//! How often, and for how long, the cores of this machine do not respond to a program that wants to run
//! on them.
//!
//! [`measure()`] takes two traces on each core. *Fixed work quanta*: the same computation over and
//! over, each timed; what one takes longer than the fastest is a *delay*. *Gaps*: a process that does
//! nothing but read the clock; what passes unseen between two readings is a *gap*. Context switches are
//! counted beside both, window by window. [`summarize()`] makes numbers of the traces: delays and gaps by
//! length, and for each length how they go together with the context switches (Pakin 2001, section 5.2:
//! negative for the shortest, near-perfect positive for 100-1000 µs). [`text`] and [`html`] tell them.
//!
//! Only `measure` touches the machine; everything else takes values and returns values. This crate may
//! use the report's tables and its page; it must know nothing of MPI or of evenkeel's own runs.

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

/// One self-contained HTML page; nothing is loaded from anywhere. Without scripts it shows [`text`].
pub fn html(noise: &NoiseSummary) -> String {
    evenkeel_report::document("noise of this machine", &noise.version, noise, &text(noise, 100))
}
