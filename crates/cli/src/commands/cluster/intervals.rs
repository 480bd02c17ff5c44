//! Means of several seeds, for tables.

use evenkeel_cluster_sim::Interval;

/// A mean, and its interval if it has one.
pub fn with_interval(interval: Interval, digits: usize) -> String {
    match interval.half_width.is_finite() {
        true => format!("{:.digits$} ± {:.digits$}", interval.mean, interval.half_width),
        false => format!("{:.digits$}", interval.mean),
    }
}
