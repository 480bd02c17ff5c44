//! Models of machines: what communication costs, the parameters of the models, and what algorithms take.
//!
//! [`Parameters`] are the content of a file of parameters: a [`Model`] of the network and, if ranks share
//! a machine, one of the node. A model is [`LogGp`] (constants, after Culler 1993 and Alexandrov 1995) or
//! [`LoP`] (functions of the number of peers that are addressed together, after Höfler 2005). [`Barrier`]
//! has the closed forms of all barriers under either model, and [`fan_out`] chooses n for the barriers
//! that have one. [`measurement`] estimates parameters from [`samples`] with the fits of [`fit`].
//!
//! Besides these there are models of single systems: [`ring`] (reflective memory), [`multisend`] and
//! [`postal`] (replication in the network card), [`launch`] (starting programs).
//!
//! Everything takes values and returns values. Times are nanoseconds as `f64`, sizes are bytes.
//!
//! May use: serde, a numerical search, random numbers through parameters. Must never: read a clock or a
//! file, or know what a schedule, an engine or a segment is.

mod barrier;
pub mod builtin;
pub mod fan_out;
pub mod fit;
pub mod launch;
mod loggp;
mod lop;
pub mod measurement;
mod model;
pub mod mozart;
pub mod multisend;
mod parameter_error;
mod parameters;
pub mod postal;
pub mod ring;
pub mod rounds;
pub mod samples;

pub use barrier::{Barrier, Release};
pub use fan_out::Charge;
pub use loggp::LogGp;
pub use lop::{LoP, Overhead, Posting, RoundTrip};
pub use model::Model;
pub use parameter_error::ParameterError;
pub use parameters::{Node, Parameters, SCHEMA};
