//! Barriers between nodes: how many of them everybody has entered, as a number that only grows.
//!
//! Each node knows how many barriers all of its ranks have entered. The least of these over all nodes
//! is what everybody has entered. A message says "so many"; a later one makes an earlier one needless,
//! and one that comes twice or late changes nothing. So ranks that defer barriers and run ahead cost no
//! message for each: one says where they have got to.

/// How the numbers go round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Up a binomial tree and down again: fewest messages.
    Tree,
    /// In round r to the node 2^r further on: fewest rounds.
    Dissemination,
}

/// A number to be sent: to which node, in which slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    pub to: usize,
    pub slot: u32,
    pub count: u64,
}

const UP: u32 = 0;
const DOWN: u32 = 1;

/// One node's part.
#[derive(Debug)]
pub struct Watermark {
    me: usize,
    nodes: usize,
    way: Way,
    mine: u64,
    /// Tree: what each child has said, by its bit. Dissemination: what came in each round.
    heard: Vec<u64>,
    /// What has been sent: in each round, or up.
    sent: Vec<u64>,
    /// What everybody has entered, as far as is known here.
    all: u64,
    /// What has been sent down.
    told: u64,
}

fn rounds(nodes: usize) -> usize {
    nodes.next_power_of_two().trailing_zeros() as usize
}

impl Watermark {
    pub fn new(me: usize, nodes: usize, way: Way) -> Watermark {
        let rounds = rounds(nodes);
        Watermark {
            me,
            nodes,
            way,
            mine: 0,
            heard: vec![0; rounds],
            sent: vec![0; rounds.max(1)],
            all: 0,
            told: 0,
        }
    }

    /// What all nodes' ranks have entered.
    pub fn all(&self) -> u64 {
        self.all
    }

    /// Whether this node's ranks have entered more than everybody has: others are waited for.
    pub fn waits(&self) -> bool {
        self.mine > self.all
    }

    /// This node's ranks have all entered so many.
    pub fn enter(&mut self, count: u64, tell: impl FnMut(Told)) {
        if count > self.mine {
            self.mine = count;
            self.pass_on(tell);
        }
    }

    /// Another node has sent a number.
    pub fn hear(&mut self, from: usize, slot: u32, count: u64, tell: impl FnMut(Told)) {
        let heard = match self.way {
            Way::Tree if slot == DOWN => &mut self.all,
            Way::Tree => match self.children().find(|(_, child)| *child == from) {
                Some((bit, _)) => &mut self.heard[bit],
                None => return,
            },
            Way::Dissemination => match self.heard.get_mut(slot as usize) {
                Some(heard) => heard,
                None => return,
            },
        };
        if count > *heard {
            *heard = count;
            self.pass_on(tell);
        }
    }

    /// Bits and nodes of the children in the tree.
    fn children(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (me, nodes) = (self.me, self.nodes);
        let bits = if me == 0 { rounds(nodes) } else { me.trailing_zeros() as usize };
        (0..bits).map(move |bit| (bit, me + (1 << bit))).filter(move |(_, child)| *child < nodes)
    }

    fn pass_on(&mut self, mut tell: impl FnMut(Told)) {
        match self.way {
            Way::Tree => {
                let below = self.children().map(|(bit, _)| self.heard[bit]).fold(self.mine, u64::min);
                if self.me == 0 {
                    self.all = self.all.max(below);
                } else if below > self.sent[0] {
                    self.sent[0] = below;
                    tell(Told { to: self.me & (self.me - 1), slot: UP, count: below });
                }
                if self.all > self.told {
                    self.told = self.all;
                    self.children()
                        .for_each(|(_, child)| tell(Told { to: child, slot: DOWN, count: self.all }));
                }
            }
            Way::Dissemination => {
                let mut least = self.mine;
                for round in 0..self.heard.len() {
                    if least > self.sent[round] {
                        self.sent[round] = least;
                        tell(Told {
                            to: (self.me + (1 << round)) % self.nodes,
                            slot: round as u32,
                            count: least,
                        });
                    }
                    least = least.min(self.heard[round]);
                }
                self.all = self.all.max(least);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes enter barriers at random, messages arrive in any order, now and then twice: nobody is told of
    /// more than all have entered, and in the end everybody knows.
    #[test]
    fn nobody_knows_more_than_all_have_entered() {
        let mut x = 1u64;
        let mut below = |n: usize| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x % n as u64) as usize
        };
        for way in [Way::Tree, Way::Dissemination] {
            for nodes in 2..=17 {
                let mut all: Vec<Watermark> = (0..nodes).map(|me| Watermark::new(me, nodes, way)).collect();
                let mut entered = vec![0u64; nodes];
                let mut flying: Vec<(usize, Told)> = Vec::new();
                let last = 40;
                while entered.iter().any(|e| *e < last) || !flying.is_empty() {
                    if below(2) == 0 || flying.is_empty() {
                        let node = below(nodes);
                        entered[node] = last.min(entered[node] + below(4) as u64);
                        all[node].enter(entered[node], |told| flying.push((node, told)));
                    } else {
                        let at = below(flying.len());
                        let (from, told) = if below(5) == 0 { flying[at] } else { flying.swap_remove(at) };
                        let mut said = Vec::new();
                        all[told.to].hear(from, told.slot, told.count, |told| said.push(told));
                        flying.extend(said.into_iter().map(|said| (told.to, said)));
                    }
                    let least = *entered.iter().min().unwrap();
                    assert!(all.iter().all(|w| w.all() <= least), "{way:?}, {nodes} nodes");
                }
                assert!(all.iter().all(|w| w.all() == last && !w.waits()), "{way:?}, {nodes} nodes: {all:?}");
            }
        }
    }
}
