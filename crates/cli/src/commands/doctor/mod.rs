//! `evenkeel doctor`: reports what evenkeel finds on a machine, what it can do there, and which calls of a
//! program it covers.
//!
//! [`kernel`] tries kernel features, with the help of other processes of this program ([`sibling`],
//! [`system_call_dispatch`]); `machine_text` and `program_text` put what was found into sentences.

mod arguments;
mod command;
mod kernel;
mod machine_text;
mod program_text;
mod sharing_text;
mod sibling;
mod system_call_dispatch;

pub use arguments::{DoctorArguments, TrialArguments, TrialRole};
pub use command::doctor;
pub use sibling::take_part_in_trial;
