//! Generators of networks, by rule or at random. The same arguments and seed always give the same network.

pub mod dragonfly;
mod error;
pub mod failures;
pub mod fat_tree;
pub mod hierarchical;
pub mod irregular;
mod populate;
pub mod torus;

pub use dragonfly::{Dragonfly, dragonfly};
pub use error::GenerateError;
pub use failures::{Failures, with_failures};
pub use fat_tree::{FatTree, fat_tree};
pub use hierarchical::{Hierarchical, hierarchical};
pub use irregular::{Irregular, irregular};
pub use torus::{Torus, torus};
