//! The command line: starts MPI programs under evenkeel, says what it finds on a machine, shows reports.
//!
//! It reads ELF files as the dynamic linker does to find out which MPI a program will get, picks the shim and
//! the launcher that belong to that MPI, and becomes that launcher, or the parent of the ranks.
//!
//! Layers, from the top down; a module uses modules of its own layer's folder and of layers below it:
//!
//! ```text
//! commands    the grammar of the command line, and a folder for each command
//! findings    what a recorded run has done wrong
//! launch      shim, launcher and environment of a run          inject    disturbs a run on purpose
//! program     what a program is, which MPI it gets             input     what users name: parameters
//! jobs        jobs that run, seen from outside
//! hosts       processes of this program on other hosts
//! machine     cores, quotas, limits                            output    terminal, files, progress, plots
//! errors      every sentence with which evenkeel refuses, and the exit codes
//! ```
//!
//! A run goes this way: [`commands::run`] → [`program::examination`] → [`launch::preparation`] (shim,
//! environment) → [`launch::launcher`] → `exec`, or `evenkeel_launch`.
//!
//! May use: options, record, report, noise, trace, check, debug; for the commands that study collectives
//! schedule, schedule-sim, model and tune, the segment and the fabric to measure them, and tables of
//! barriers; for `route` the routing crates; for `run` and `exec` launch and node. Must never: link an MPI;
//! talk to the engine other than through the environment (the ranks of `tune` are made of it); or stay in
//! memory while the program runs, except for [`inject`], as the ranks' launcher, and for what is said when a
//! job has ended or is to be ended.

pub mod commands;
pub mod errors;
pub mod findings;
pub mod hosts;
pub mod inject;
pub mod input;
pub mod jobs;
pub mod launch;
pub mod machine;
pub mod output;
pub mod program;
