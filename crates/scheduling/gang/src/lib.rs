//! Gang scheduling as pure data: who runs on which core, and when.
//!
//! ```text
//! identifiers  job, core, rank, machine
//! packing      on which free cores of a slot a job goes: buddy, first fit
//! matrix       Ousterhout's matrix of slots and cores; a job has all its ranks in one slot
//! queue        jobs that do not fit yet: first come first served, EASY backfilling
//! strobes      quanta of a shared clock: which quantum is at a time
//! timetable    a matrix in force: which slot is on in a quantum, and who has a core then
//! calendar     the timetables in force, one after the other
//! classifier   the class of a rank from what was measured: CS, F, DC (flexible coscheduling)
//! turn         what a rank may do in a slot, by its class and that of the core's owner
//! ```
//!
//! Nodes that share a clock and a calendar switch at the same instants without any message. Sources:
//! Ousterhout, "Scheduling techniques for concurrent systems", ICDCS 1982 (the matrix); Lifka, "The ANL/IBM
//! SP scheduling system", JSSPP 1995 (EASY); Frachtenberg, Feitelson, Petrini, Fernandez, "Flexible
//! coscheduling", IPDPS 2003.
//!
//! May use: std. Must never: do I/O, read a clock, start threads, or depend on the order of a hash map: equal
//! calls give equal results.
//!
//! ```
//! use evenkeel_gang::{Calendar, JobId, Machine, Matrix, Packing, Quantum, Request, Strobes, Timetable};
//! let mut matrix = Matrix::new(&[Machine::with_cores(2)], 8, Packing::Buddy);
//! matrix.place(Request::new(JobId(1), 2)).unwrap();
//! matrix.place(Request::new(JobId(2), 2)).unwrap();
//! // Two jobs of two ranks take turns of 10 ms on two cores.
//! let mut calendar = Calendar::new();
//! calendar.announce(Timetable::new(&matrix, Strobes::new(10_000_000), Quantum(0))).unwrap();
//! assert!(calendar.runs(JobId(1), 4_000_000) && !calendar.runs(JobId(2), 4_000_000));
//! assert!(calendar.runs(JobId(2), 14_000_000) && !calendar.runs(JobId(1), 14_000_000));
//! assert_eq!(calendar.next_switch_ns(4_000_000), Some(10_000_000));
//! ```

mod calendar;
mod classifier;
mod identifiers;
mod invariants;
mod matrix;
mod packing;
mod queue;
mod request;
mod strobes;
mod thresholds;
mod timetable;
mod turn;

pub use calendar::{AnnouncementError, Calendar};
pub use classifier::{Class, Classifier, Sample, agree};
pub use identifiers::{Core, JobId, Rank};
pub use invariants::InvariantError;
pub use matrix::{Cell, Matrix, Placement};
pub use packing::Packing;
pub use queue::{Queue, QueuePolicy, QueuedJob, Started};
pub use request::{Machine, PlaceError, Request};
pub use strobes::{Quantum, Strobes};
pub use thresholds::Thresholds;
pub use timetable::Timetable;
pub use turn::{Turn, turn};
