//! Pictures of schedules: which rank sends to which in which round, as text and as SVG.
//!
//! A round of a picture is a position in the longest chain of messages: a message belongs to round r if
//! r - 1 messages, one after the other, had to arrive before it could be sent. That is counted in an
//! execution, not taken from how the algorithm numbers its rounds.
//!
//! [`Picture`] is what there is to draw, [`text`] and [`svg`] draw it, and [`gallery`] makes the book's
//! page of all algorithms.
//!
//! May use: schedules and the checker. Must never: write files.

mod content;
pub mod gallery;
pub mod svg;
pub mod text;

pub use content::{Arrow, Picture, Purpose};
