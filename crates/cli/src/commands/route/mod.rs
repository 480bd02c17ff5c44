//! `evenkeel route`.

pub mod application;
pub mod arguments;
mod check;
pub mod command;
mod compare;
mod compute;
mod figures;
mod generate;
mod network_file;
mod opensm;
mod parallel_runs;
pub mod plan;
pub mod reconfigure;
pub mod simulate;
mod table_scheme;
