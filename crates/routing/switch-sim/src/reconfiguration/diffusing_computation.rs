//! A diffusing computation: a flood that leaves a tree behind, and answers that come back along it
//! (Rodeheffer's propagation-order spanning tree).

use super::directed_graph::Directed;

/// What each switch knows of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spread {
    pub joined: Vec<bool>,
    pub parent: Vec<Option<u32>>,
    pub level: Vec<u32>,
    pub children: Vec<Vec<u32>>,
    /// Answers that a switch still waits for.
    waits: Vec<u32>,
    /// Ports that the switches at and below each one have told of.
    pub ports: Vec<u32>,
}

impl Spread {
    pub fn new(switches: usize) -> Spread {
        Spread {
            joined: vec![false; switches],
            parent: vec![None; switches],
            level: vec![0; switches],
            children: vec![Vec::new(); switches],
            waits: vec![0; switches],
            ports: vec![0; switches],
        }
    }

    /// A switch joins, and tells all neighbours but its parent: these.
    pub fn join(&mut self, graph: &Directed, s: u32, parent: Option<u32>) -> Vec<u32> {
        let place = s as usize;
        self.joined[place] = true;
        self.parent[place] = parent;
        self.level[place] = parent.map_or(0, |p| self.level[p as usize] + 1);
        self.ports[place] = graph.around(s).count() as u32;
        let told: Vec<u32> = graph.around(s).map(|(_, n)| n).filter(|n| Some(*n) != parent).collect();
        self.waits[place] = told.len() as u32;
        told
    }

    /// A neighbour has answered, as a child with what is below it, or because it had joined before.
    pub fn answered(&mut self, s: u32, from: u32, child: bool) {
        self.waits[s as usize] -= 1;
        if child {
            self.children[s as usize].push(from);
            self.ports[s as usize] += self.ports[from as usize];
        }
    }

    /// Whether all neighbours of a switch have answered.
    pub fn complete(&self, s: u32) -> bool {
        self.joined[s as usize] && self.waits[s as usize] == 0
    }
}
