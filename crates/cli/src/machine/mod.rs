//! What this machine allows: cores, CPU quotas, numbers of processes and files, memory, processor time.
//!
//! The rules are functions of the kernel's texts, so that they can be tested; functions that begin with
//! `own_` or take no texts read them from this machine. May use: rustix, libc. Must never: change anything
//! but the affinity of this process and its limit of open files, or know what the numbers are for.

pub mod control_groups;
pub mod core_list;
pub mod cores;
pub mod memory;
pub mod open_files;
pub mod process_limit;
pub mod processor_time;
pub mod system;
pub mod worker;
