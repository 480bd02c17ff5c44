//! Who of a communicator's members is on which node, as all of them know it alike.

/// The members of a communicator by nodes. Nodes are in the order of their first members; *node order*
/// lists all members of the first node, then those of the second, and so on, each in rank order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The job's number of each node.
    pub nodes: Vec<u32>,
    /// How many members each node has.
    pub counts: Vec<u32>,
    /// Of each rank: which of the nodes, and which of its members.
    pub seats: Vec<(u32, u32)>,
    /// Ranks in node order.
    pub order: Vec<u32>,
    /// Of each node: where its members begin in node order.
    pub starts: Vec<u32>,
}

impl Layout {
    /// From the job's node of each rank.
    pub fn new(node_of: &[u32]) -> Layout {
        let mut nodes: Vec<u32> = Vec::new();
        let mut counts: Vec<u32> = Vec::new();
        let seats: Vec<(u32, u32)> = node_of
            .iter()
            .map(|node| {
                let at = nodes.iter().position(|n| n == node).unwrap_or_else(|| {
                    nodes.push(*node);
                    counts.push(0);
                    nodes.len() - 1
                });
                counts[at] += 1;
                (at as u32, counts[at] - 1)
            })
            .collect();
        let starts: Vec<u32> =
            counts.iter().scan(0, |sum, count| Some(std::mem::replace(sum, *sum + count))).collect();
        let mut order = vec![0; node_of.len()];
        for (rank, &(node, seat)) in seats.iter().enumerate() {
            order[(starts[node as usize] + seat) as usize] = rank as u32;
        }
        Layout { nodes, counts, seats, order, starts }
    }

    pub fn ranks(&self) -> usize {
        self.seats.len()
    }

    /// Whether node order is rank order.
    pub fn is_in_order(&self) -> bool {
        self.order.iter().enumerate().all(|(at, &rank)| at as u32 == rank)
    }

    pub fn most(&self) -> usize {
        self.counts.iter().copied().max().unwrap_or(0) as usize
    }

    /// The ranks of the nodes other than `node`, in node order.
    pub fn elsewhere(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let start = self.starts[node] as usize;
        let end = start + self.counts[node] as usize;
        self.order[..start].iter().chain(&self.order[end..]).map(|&rank| rank as usize)
    }

    /// The ranks of one node.
    pub fn members(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let start = self.starts[node] as usize;
        self.order[start..start + self.counts[node] as usize].iter().map(|&rank| rank as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_dealt_out_in_turn_are_not_in_order() {
        let layout = Layout::new(&[7, 3, 7, 3, 9]);
        assert_eq!((layout.nodes.as_slice(), layout.counts.as_slice()), (&[7, 3, 9][..], &[2, 2, 1][..]));
        assert_eq!(layout.seats, [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)]);
        assert_eq!(layout.order, [0, 2, 1, 3, 4]);
        assert_eq!(layout.elsewhere(1).collect::<Vec<_>>(), [0, 2, 4]);
        assert_eq!(layout.members(1).collect::<Vec<_>>(), [1, 3]);
        assert!(!layout.is_in_order() && Layout::new(&[0, 0, 1]).is_in_order());
    }
}
