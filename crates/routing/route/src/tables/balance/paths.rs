//! The trees of all end nodes, and the load of channels that follows from them.

use super::super::graph::Graph;
use super::super::tree::Tree;
use crate::network::Network;

/// By end node and switch: the channel by which the switch forwards packets to the end node. By channel:
/// its load.
pub(super) struct Paths {
    switches: usize,
    /// By end node and switch: the index of the channel among those that leave the switch. It has one byte,
    /// because large networks have 500 million of them.
    slot: Vec<u8>,
    /// By end node: its switch.
    root: Vec<u32>,
    /// By end node: the hops of all paths to it, as a sum over senders.
    hops: Vec<u64>,
    /// The channels that leave each switch, one switch after the other, and by switch the index of its first.
    leaving: Vec<u32>,
    leaving_start: Vec<u32>,
    /// By channel: its index among the channels that leave its switch.
    slot_of: Vec<u8>,
    /// By channel: ordered pairs of end nodes whose path uses it.
    pub load: Vec<u32>,
}

/// The index that stands for no channel.
const NO_CHANNEL: u8 = 255;

impl Paths {
    /// No paths yet.
    pub fn new(network: &Network, graph: &Graph) -> Paths {
        let (switches, end_nodes) = (graph.switches, network.end_nodes().len());
        let (mut leaving, mut leaving_start, mut slot_of) = (Vec::new(), vec![0], vec![0; graph.channels]);
        for s in network.switch_ids() {
            for (slot, c) in network.leaving(s).iter().enumerate() {
                slot_of[c.index()] = slot as u8;
                leaving.push(c.0);
            }
            leaving_start.push(leaving.len() as u32);
        }
        let root = network.end_nodes().iter().map(|e| e.switch.0).collect();
        let slot = vec![NO_CHANNEL; switches * end_nodes];
        Paths {
            switches,
            slot,
            root,
            hops: vec![0; end_nodes],
            leaving,
            leaving_start,
            slot_of,
            load: vec![0; graph.channels],
        }
    }

    /// Number of end nodes.
    pub fn end_nodes(&self) -> u32 {
        self.root.len() as u32
    }

    /// The switch of an end node.
    pub fn root(&self, e: u32) -> u32 {
        self.root[e as usize]
    }

    /// Ordered pairs of different end nodes.
    pub fn pairs(&self) -> u64 {
        let n = self.root.len() as u64;
        n * n.saturating_sub(1)
    }

    /// Hops of all paths, as a sum over ordered pairs of end nodes.
    pub fn total_hops(&self) -> u64 {
        self.hops.iter().sum()
    }

    /// The channel by which a switch forwards packets to an end node.
    pub fn next(&self, e: u32, s: u32) -> Option<u32> {
        match self.slot[e as usize * self.switches + s as usize] {
            NO_CHANNEL => None,
            slot => Some(self.leaving[self.leaving_start[s as usize] as usize + usize::from(slot)]),
        }
    }

    fn set_next(&mut self, e: u32, s: u32, c: u32) {
        self.slot[e as usize * self.switches + s as usize] = self.slot_of[c as usize];
    }

    /// Inserts the tree of an end node. `through` gives, by switch, how many end nodes send through it.
    /// `changed` is called with every channel that has a new load.
    pub fn insert_tree(
        &mut self,
        e: u32,
        tree: &Tree,
        graph: &Graph,
        through: &[u32],
        mut changed: impl FnMut(u32, u32),
    ) {
        let row = e as usize * self.switches;
        self.slot[row..row + self.switches].fill(NO_CHANNEL);
        let mut hops = 0;
        for s in &tree.from_root[1..] {
            let (c, w) = (tree.next[*s as usize], through[*s as usize]);
            self.slot[row + *s as usize] = self.slot_of[c as usize];
            self.load[c as usize] += w;
            hops += u64::from(tree.distance[*s as usize]) * u64::from(graph.senders[*s as usize]);
            changed(c, self.load[c as usize]);
        }
        self.hops[e as usize] = hops;
    }

    /// Removes the load of a tree. [`Paths::insert_tree`] overwrites the tree itself.
    pub fn remove_tree(&mut self, e: u32, graph: &Graph, mut changed: impl FnMut(u32, u32)) {
        let through = self.through(e, graph);
        for s in 0..self.switches as u32 {
            if let Some(c) = self.next(e, s) {
                self.load[c as usize] -= through[s as usize];
                changed(c, self.load[c as usize]);
            }
        }
    }

    /// By switch: how many end nodes send through it to an end node.
    fn through(&self, e: u32, graph: &Graph) -> Vec<u32> {
        let mut through = graph.senders.clone();
        let mut waiting = vec![0_u32; self.switches];
        let towards = |s: u32| self.next(e, s).map(|c| graph.to[c as usize]);
        (0..self.switches as u32).filter_map(towards).for_each(|to| waiting[to as usize] += 1);
        let mut ready: Vec<u32> = (0..self.switches as u32).filter(|s| waiting[*s as usize] == 0).collect();
        while let Some(s) = ready.pop() {
            if let Some(to) = towards(s) {
                through[to as usize] += through[s as usize];
                waiting[to as usize] -= 1;
                if waiting[to as usize] == 0 {
                    ready.push(to);
                }
            }
        }
        through
    }

    /// The switches that send through `s` to an end node, `s` first and every other after its parent, each
    /// with the number of end nodes that send through it.
    pub fn subtree(&self, e: u32, s: u32, graph: &Graph) -> Vec<(u32, u32)> {
        let mut all = vec![(s, graph.senders[s as usize])];
        let mut parent = vec![0];
        let mut i = 0;
        while let Some((at, _)) = all.get(i).copied() {
            for c in graph.entering(at) {
                let from = graph.from[*c as usize];
                if self.next(e, from) == Some(*c) {
                    all.push((from, graph.senders[from as usize]));
                    parent.push(i);
                }
            }
            i += 1;
        }
        for i in (1..all.len()).rev() {
            all[parent[i]].1 += all[i].1;
        }
        all
    }

    /// Makes `s` forward packets to an end node by channel `c`. `senders` end nodes send through `s`, and
    /// their paths become longer by `longer` hops.
    pub fn reroute(&mut self, e: u32, s: u32, c: u32, senders: u32, longer: i64, graph: &Graph) {
        for add in [false, true] {
            let mut at = s;
            while let Some(on) = self.next(e, at) {
                let load = &mut self.load[on as usize];
                if add {
                    *load += senders
                } else {
                    *load -= senders
                }
                at = graph.to[on as usize];
            }
            if !add {
                self.set_next(e, s, c);
            }
        }
        self.hops[e as usize] = (self.hops[e as usize] as i64 + longer * i64::from(senders)) as u64;
    }

    /// The channels from a switch to an end node.
    pub fn path(&self, e: u32, s: u32, graph: &Graph) -> Vec<u32> {
        let on = |c: &u32| self.next(e, graph.to[*c as usize]);
        std::iter::successors(self.next(e, s), on).collect()
    }
}
