//! A job whose ranks are on several machines, looked at from one of them, or from a machine without ranks.
//!
//! A process of this program on each of the other machines ([`responder`]) finds the job there and looks when
//! it is told to ([`message`]). All take their first look before any takes its second, so there is a moment
//! between the looks of all of them: what is proved for one machine is proved for all ranks.
//!
//! ```text
//! message        what is asked and answered
//! responder      answers, on another machine
//! other_machine  asks one of them
//! ways           the remote shell that leads there
//! search         starts responders, and hears what they say first
//! whole_job      all machines of a job
//! ```

mod message;
mod other_machine;
mod responder;
mod search;
mod ways;
mod whole_job;

pub use message::JobHead;
pub use responder::serve;
pub use search::{Found, LeftOut, Search};
pub use ways::Ways;
pub use whole_job::{JobAddress, WholeJob};
