//! The topology that a switch knows, and the distances that follow from it.

use super::directed_graph::DirectedGraph;
use std::rc::Rc;

/// A topology with directions, and its distances.
#[derive(Clone, Debug)]
pub struct TopologySnapshot {
    /// Distances of legal paths, as [`DirectedGraph::distances`] returns them.
    pub escape: Vec<[Vec<u32>; 2]>,
    /// By destination and switch: distances regardless of directions.
    pub minimal: Vec<Vec<u32>>,
}

impl TopologySnapshot {
    /// The snapshot of a graph.
    pub fn of(graph: &DirectedGraph) -> Rc<TopologySnapshot> {
        let minimal = (0..graph.size()).map(|to| graph.hops(to)).collect();
        Rc::new(TopologySnapshot { escape: graph.distances(), minimal })
    }
}
