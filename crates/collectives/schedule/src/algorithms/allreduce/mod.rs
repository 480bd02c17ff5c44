//! Reductions whose result comes to be everybody's output.
//!
//! Nobody finishes an epoch that another has not entered, since everybody needs everybody's
//! contribution; and who enters the next one has read what it was sent in this one. So with two banks,
//! whoever sends in epoch e knows that what was sent in e - 2 has been read, without acknowledgements.
//! Where a second half hands complete results on, one bank is enough: they tell that the first half's
//! messages have been read, and lie in the output, which is new in each epoch. Once a rank has sent
//! something it is known to be in the epoch, and what comes last may go straight to its output.

pub mod central_counter;
pub mod parts;
pub mod rabenseifner;
pub mod recursive_doubling;
pub mod reduce_broadcast;
pub mod ring;
pub mod simultaneous_broadcast;
