//! The ranks' output: whole lines, to one stream, with bounded memory.

mod lines;
mod sink;

pub use lines::Lines;
pub use sink::Sink;
