//! `evenkeel simulate`: schedules in virtual time, as a table, a record and pictures.
//!
//! The arguments have types of their own ([`schedule_name`], [`rank_counts`], [`rank_fault`]). [`setup`]
//! makes of them what the simulator takes, with [`machine`] and [`noise`]; [`simulated`] is one result;
//! [`table`], [`record`], [`pictures`] and [`plot`] show results.

mod arguments;
mod command;
mod machine;
mod noise;
mod pictures;
mod plot;
mod rank_counts;
mod rank_fault;
mod record;
mod schedule_name;
mod setup;
mod simulated;
mod table;

pub use arguments::{Leave, Multicast, SimulateArguments};
pub use command::simulate;
pub use rank_counts::RankCounts;
pub use rank_fault::RankFault;
pub use schedule_name::ScheduleName;
