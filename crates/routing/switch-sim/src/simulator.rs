//! The simulator: a network with its packets, cycle by cycle.
//!
//! A cycle has these steps: phits arrive; the workload adds packets; heads finish routing; switches
//! arbitrate; phits move. Moves are decided on the state at the beginning of the step and made afterwards,
//! so that their order does not matter. A buffer whose front packet cannot move is not examined until a
//! phit arrives or a credit returns, and idle time is skipped. So the cost of a simulation is that of the
//! phits that move.
//!
//! [`contents`] has the data. Each of the other modules adds one activity to it, and [`run`] puts them in
//! order.
//!
//! May use: wiring, parameters, routing functions. Must never: know which workload or which routing
//! function runs.

mod arbitration;
mod buffer;
mod conservation;
mod contents;
mod deadlock;
mod error;
mod failures;
mod movement;
mod packet_store;
mod queues;
mod run;
mod workload;

pub use conservation::ConservationError;
pub use contents::{Simulator, TrafficCount};
pub use deadlock::Deadlock;
pub use error::SimulationError;
pub use workload::{NewPacket, Workload};
