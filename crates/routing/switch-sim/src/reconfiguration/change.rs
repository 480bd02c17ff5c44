//! Changes of a network.

use super::directed_graph::DirectedGraph;
use super::switch_tables::SwitchTables;
use serde::Serialize;

/// A change of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TopologyChange {
    /// A switch fails or is removed.
    #[serde(rename = "switch-goes")]
    SwitchRemoved(u32),
    /// A switch is added, or works again.
    #[serde(rename = "switch-comes")]
    SwitchAdded(u32),
}

impl TopologyChange {
    /// The switch.
    pub fn switch(self) -> u32 {
        match self {
            TopologyChange::SwitchRemoved(s) | TopologyChange::SwitchAdded(s) => s,
        }
    }

    /// Whether the switch is added.
    pub fn is_addition(self) -> bool {
        matches!(self, TopologyChange::SwitchAdded(_))
    }

    /// Makes the change in a graph. Returns the neighbours of the switch, which notice it, by number.
    ///
    /// A new switch joins as a leaf: all its neighbours are up.
    pub fn apply(self, graph: &mut DirectedGraph) -> Vec<u32> {
        let switch = self.switch();
        if self.is_addition() {
            graph.is_alive[switch as usize] = true;
        }
        let links: Vec<(u32, u32)> = graph.neighbours(switch).collect();
        if self.is_addition() {
            for (link, _) in &links {
                graph.second_is_up[*link as usize] = graph.links[*link as usize].0 == switch;
            }
        }
        graph.is_alive[switch as usize] = self.is_addition();
        let mut neighbours: Vec<u32> = links.into_iter().map(|(_, n)| n).collect();
        neighbours.sort_unstable();
        neighbours
    }

    /// Updates what the hardware of a switch tells its tables at once: the status of the links of the
    /// changed switch. A new switch has no tables.
    pub(super) fn update_link_status(self, graph: &DirectedGraph, tables: &mut SwitchTables) {
        let switch = self.switch();
        for (link, (a, b)) in graph.links.iter().enumerate() {
            if *a == switch || *b == switch {
                tables.follow(graph, link as u32);
            }
        }
        if self.is_addition() {
            tables.clear(switch);
        }
    }
}
