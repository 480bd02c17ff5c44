//! The nodes of a job.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A node of a job, from 0 up to the number of nodes less one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The node as an index into a table of all nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "node {}", self.0)
    }
}
