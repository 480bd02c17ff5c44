//! What communication costs: models of machines, their parameters, and what algorithms take under them.
//!
//! [`Parameters`] are what a file of parameters holds: a [`Model`] of the network and, where ranks
//! share a machine, one of the node. A model is [`LogGp`] (constants, after Culler 1993 and Alexandrov
//! 1995) or [`LoP`] (functions of the number of peers that are addressed at once, after Höfler 2005).
//! [`Barrier`] has the closed forms of all barriers under either; [`fan_out`] chooses n for those that
//! have one. Beside these stand the models of single systems: [`ring`] (reflective memory),
//! [`multisend`] and [`postal`] (replication in the network card), [`launch`] (starting programs).
//!
//! Everything takes values and returns values: no clock, no file, no randomness. Times are nanoseconds
//! as `f64`, sizes bytes. The crate may use serde; it must not know what a schedule, an engine or a
//! segment is.

mod barrier;
pub mod builtin;
pub mod fan_out;
pub mod fit;
mod hierarchy;
pub mod launch;
mod loggp;
mod lop;
pub mod measurement;
pub mod mozart;
pub mod multisend;
mod parameters;
pub mod postal;
pub mod ring;
pub mod rounds;
pub mod samples;

pub use barrier::{Barrier, Release};
pub use fan_out::Charge;
pub use loggp::LogGp;
pub use lop::{LoP, Overhead, Posting, RoundTrip};
pub use parameters::{Model, Node, ParameterError, Parameters, SCHEMA};
