//! What a program is and which MPI it gets.

pub mod bindings;
pub mod elf;
pub mod examination;
pub mod loader;
pub mod mpi;
pub mod python;
