//! Chooses the schedule by which barriers are run best on the machine at hand.
//!
//! [`candidates`] lists what is worth a look: every barrier, with the few values of its parameters that
//! can be best. [`prediction`] leaves out what a model says is far off. [`course`] measures the rest,
//! turn by turn: all against the engine's built-in way, the best few again for longer. [`judgement`]
//! says whether one of them is clearly better; if not, the built-in way stays. What is measured is the
//! engine itself, among real processes ([`life`]), which find each other through whoever started them
//! ([`card`]); there is no MPI in it.
//!
//! May use the engine, schedules, models and the simulator. It must never start a process or write a
//! file: that is the command's part.

pub mod candidates;
pub mod comparison;
pub mod handshake;
pub mod prediction;
pub mod rank;
pub mod ratio;
