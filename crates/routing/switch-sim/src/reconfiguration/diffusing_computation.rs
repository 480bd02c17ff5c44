//! A diffusing computation: a flood that builds a tree, and answers that return along it (Rodeheffer's
//! propagation-order spanning tree).

use super::directed_graph::DirectedGraph;

/// What each switch knows of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DiffusingComputation {
    /// By switch: whether it has joined.
    pub has_joined: Vec<bool>,
    /// By switch: its parent; the root has none.
    pub parent: Vec<Option<u32>>,
    /// By switch: its distance to the root in the tree.
    pub level: Vec<u32>,
    /// By switch: its children.
    pub children: Vec<Vec<u32>>,
    /// By switch: answers that it still waits for.
    missing_answers: Vec<u32>,
    /// By switch: ports of the switch and of those below it that have answered.
    pub ports: Vec<u32>,
}

impl DiffusingComputation {
    /// A tree without switches.
    pub fn new(switches: usize) -> DiffusingComputation {
        DiffusingComputation {
            has_joined: vec![false; switches],
            parent: vec![None; switches],
            level: vec![0; switches],
            children: vec![Vec::new(); switches],
            missing_answers: vec![0; switches],
            ports: vec![0; switches],
        }
    }

    /// A switch joins. Returns the neighbours that it invites: all except its parent.
    pub fn join(&mut self, graph: &DirectedGraph, s: u32, parent: Option<u32>) -> Vec<u32> {
        let index = s as usize;
        self.has_joined[index] = true;
        self.parent[index] = parent;
        self.level[index] = parent.map_or(0, |p| self.level[p as usize] + 1);
        self.ports[index] = graph.neighbours(s).count() as u32;
        let invited: Vec<u32> = graph.neighbours(s).map(|(_, n)| n).filter(|n| Some(*n) != parent).collect();
        self.missing_answers[index] = invited.len() as u32;
        invited
    }

    /// A neighbour answers: as a child whose subtree is complete, or because it had joined before.
    pub fn receive_answer(&mut self, s: u32, from: u32, is_child: bool) {
        self.missing_answers[s as usize] -= 1;
        if is_child {
            self.children[s as usize].push(from);
            self.ports[s as usize] += self.ports[from as usize];
        }
    }

    /// Whether all neighbours of a switch have answered.
    pub fn is_complete(&self, s: u32) -> bool {
        self.has_joined[s as usize] && self.missing_answers[s as usize] == 0
    }
}
