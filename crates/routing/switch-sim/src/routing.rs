//! Routing functions: where a packet may go next.
//!
//! May use: the wiring, networks and tables. Must never: know of buffers or of time.

mod any;
mod escape;
mod function;
mod source;
mod table;

pub use any::AnyRouting;
pub use escape::EscapeRouting;
pub use function::{Routing, VirtualLane};
pub use source::SourceRouting;
pub use table::TableRouting;
