//! The command line: starts MPI programs under evenkeel, says what it finds on a machine, shows
//! reports.
//!
//! It reads ELF files as the dynamic linker does to find out which MPI a program will get, picks the
//! shim and the launcher that belong to that MPI, and becomes that launcher. It may use options,
//! record, report, noise, and for the lab's commands schedule, model, simulate and tune, the segment
//! and the fabric to measure them ([`model`]), and tables of schedules; it must never link an MPI, talk
//! to the engine other than through the environment (the ranks of [`tune`] are made of it), or stay in
//! memory while the program runs (but for [`inject`], whose purpose that is).
//!
//! The way of a `run`: [`arguments`] → [`program`] (what is it, which [`mpi`]; [`elf`] and [`loader`]
//! read the files) → [`shim`] → [`launcher`] → `exec`.

pub mod commands;
pub mod errors;
pub mod inject;
pub mod launch;
pub mod machine;
pub mod output;
pub mod program;
