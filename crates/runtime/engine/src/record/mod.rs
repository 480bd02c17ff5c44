//! What is counted for the report.

pub mod tally;
