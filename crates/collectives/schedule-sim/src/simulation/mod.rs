//! The simulation of ranks that have a processor each.
//!
//! A rank takes its steps on a clock of its own until it must wait for something that has not arrived by
//! then. Only what reaches a rank from elsewhere is an event: a raised flag, an addition to a counter,
//! the answer of a counter. Between events the clock of a rank may run ahead of the others, because
//! nothing it does reaches another rank sooner than the least latency.
//!
//! A message keeps its sender's processor busy for o_s. The next message may follow g after this one
//! began. It arrives L after the overhead (and G later for each further byte). Arrivals at a rank are g
//! apart. A rank that waits for messages spends o_r on each, in the order of its waiting steps.
//!
//! The layers, top down: [`run`] is the loop over events, [`arrivals`] delivers one event, [`advance`]
//! takes the steps of a rank, [`calls`] enters and leaves calls, [`effects`] does what single steps do,
//! [`state`] is what all of them change.

mod advance;
mod arrivals;
mod calls;
mod effects;
mod error;
mod run;
mod state;

pub use error::SimulationError;
pub use run::simulate;
