//! What a program is and which MPI it gets, found out as the dynamic linker would: without running it.
//!
//! [`examination`] looks at a program with the help of the others: [`search_path`] finds its file, [`script`]
//! its interpreter, [`elf`] reads what it asks for, [`loader`] finds the libraries, [`mpi`] recognises the
//! MPI among them, [`python`] asks an interpreter, [`bindings`] judges which of its calls a shim sees, and
//! [`call_sites`] names places in its code.
//!
//! May use: object and stacks to read ELF files, [`errors`](crate::errors). Must never: start the program
//! (a Python interpreter is asked, the script is not run), or know a shim or a launcher.

pub mod bindings;
pub mod call_sites;
pub mod elf;
pub mod examination;
pub mod loader;
pub mod mpi;
pub mod python;
pub mod script;
pub mod search_path;
