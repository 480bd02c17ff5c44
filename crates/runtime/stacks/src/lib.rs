//! Call stacks of other processes, native and Python, taken from outside.
//!
//! ```text
//! look        all stacks of a process
//! code_file   the same questions about a file, without a process
//! frame       what a stack consists of
//! error       why there are none
//! stopped     stops a thread for a moment, and copies its registers and its stack
//! registers   what differs between processors
//! threads     the threads of a process, by /proc
//! memory_map  what a process has mapped
//! elf_file    unwinding tables, symbols and lines of a program or library
//! unwinding   return addresses, from what was copied
//! python      frames of CPython, from its memory
//! ```
//!
//! A thread stands still while its registers and its stack are copied, some tens of microseconds; if it runs
//! Python also while the interpreter's frames are read, some milliseconds. Everything else is done afterwards
//! with the copy.
//!
//! May use: the kernel, and crates that know ELF, DWARF and CPython. Must never: write to a process, except
//! that a system call which the stop has interrupted is made to go on; leave one stopped; know MPI.

mod code_file;
mod elf_file;
mod error;
mod frame;
mod look;
mod memory_map;
mod python;
mod registers;
mod stopped;
mod threads;
mod unwinding;

pub use code_file::CodeFile;
pub use error::StackError;
pub use frame::{Frame, Language, ProcessStacks, ThreadStack};
pub use look::Observer;
