//! The trees of all end nodes and what they load the channels with.

use super::super::{Graph, Tree};
use crate::network::Network;

/// For each end node, the channel by which each switch sends on; and the sum over all: the load of each
/// channel.
pub(super) struct Paths {
    switches: usize,
    /// By end node and switch: which of the switch's channels, in the order of ports. One byte, as there
    /// may be half a thousand million of them.
    slot: Vec<u8>,
    /// By end node: its switch.
    root: Vec<u32>,
    /// By end node: the hops of all paths to it.
    hops: Vec<u64>,
    leaving: Vec<u32>,
    leaving_start: Vec<u32>,
    slot_of: Vec<u8>,
    pub load: Vec<u32>,
}

const NO_SLOT: u8 = 255;

impl Paths {
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
        let slot = vec![NO_SLOT; switches * end_nodes];
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

    pub fn end_nodes(&self) -> u32 {
        self.root.len() as u32
    }

    pub fn root(&self, e: u32) -> u32 {
        self.root[e as usize]
    }

    /// Ordered pairs of different end nodes.
    pub fn total_weight(&self) -> u64 {
        let n = self.root.len() as u64;
        n * n.saturating_sub(1)
    }

    /// Hops of all pairs of end nodes.
    pub fn total_hops(&self) -> u64 {
        self.hops.iter().sum()
    }

    pub fn next(&self, e: u32, s: u32) -> Option<u32> {
        match self.slot[e as usize * self.switches + s as usize] {
            NO_SLOT => None,
            slot => Some(self.leaving[self.leaving_start[s as usize] as usize + usize::from(slot)]),
        }
    }

    pub fn set_next(&mut self, e: u32, s: u32, c: u32) {
        self.slot[e as usize * self.switches + s as usize] = self.slot_of[c as usize];
    }

    /// Adds a tree; `through` says how many end nodes send through each switch. `changed` is told every
    /// channel with a new load.
    pub fn put_in(
        &mut self,
        e: u32,
        tree: &Tree,
        graph: &Graph,
        through: &[u32],
        mut changed: impl FnMut(u32, u32),
    ) {
        let row = e as usize * self.switches;
        self.slot[row..row + self.switches].fill(NO_SLOT);
        let mut hops = 0;
        for s in &tree.order[1..] {
            let (c, w) = (tree.next[*s as usize], through[*s as usize]);
            self.slot[row + *s as usize] = self.slot_of[c as usize];
            self.load[c as usize] += w;
            hops += u64::from(tree.distance[*s as usize]) * u64::from(graph.weight[*s as usize]);
            changed(c, self.load[c as usize]);
        }
        self.hops[e as usize] = hops;
    }

    /// Takes a tree's load away; the tree itself stays to be overwritten.
    pub fn take_out(&mut self, e: u32, graph: &Graph, mut changed: impl FnMut(u32, u32)) {
        let through = self.through(e, graph);
        for s in 0..self.switches as u32 {
            if let Some(c) = self.next(e, s) {
                self.load[c as usize] -= through[s as usize];
                changed(c, self.load[c as usize]);
            }
        }
    }

    /// How many end nodes send through each switch to an end node.
    fn through(&self, e: u32, graph: &Graph) -> Vec<u32> {
        let mut through = graph.weight.clone();
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

    /// The switches that send through `s` to an end node, each after the one it sends to and `s` first,
    /// with how many end nodes send through each.
    pub fn subtree(&self, e: u32, s: u32, graph: &Graph) -> Vec<(u32, u32)> {
        let mut all = vec![(s, graph.weight[s as usize])];
        let mut above = vec![0];
        let mut i = 0;
        while let Some((at, _)) = all.get(i).copied() {
            for c in graph.entering(at) {
                let from = graph.from[*c as usize];
                if self.next(e, from) == Some(*c) {
                    all.push((from, graph.weight[from as usize]));
                    above.push(i);
                }
            }
            i += 1;
        }
        for i in (1..all.len()).rev() {
            all[above[i]].1 += all[i].1;
        }
        all
    }

    /// Hangs the switches that send through `s` below another channel of `s`. `weight` end nodes go that
    /// way; their paths become longer by `longer`.
    pub fn move_to(&mut self, e: u32, s: u32, c: u32, weight: u32, longer: i64, graph: &Graph) {
        for add in [false, true] {
            let mut at = s;
            while let Some(on) = self.next(e, at) {
                let load = &mut self.load[on as usize];
                if add {
                    *load += weight
                } else {
                    *load -= weight
                }
                at = graph.to[on as usize];
            }
            if !add {
                self.set_next(e, s, c);
            }
        }
        self.hops[e as usize] = (self.hops[e as usize] as i64 + longer * i64::from(weight)) as u64;
    }

    /// The channels from a switch to an end node.
    pub fn path(&self, e: u32, s: u32, graph: &Graph) -> Vec<u32> {
        let on = |c: &u32| self.next(e, graph.to[*c as usize]);
        std::iter::successors(self.next(e, s), on).collect()
    }
}
