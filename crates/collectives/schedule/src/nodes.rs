//! Which ranks share a node.

use std::sync::Arc;

/// The map from ranks to nodes. The first rank of a node is its leader. Nodes are numbered in the order
/// of their leaders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// So many consecutive ranks on each node, fewer on the last one.
    Blocks(u32),
    /// An arbitrary map.
    Table(Arc<NodeTable>),
}

/// An arbitrary map, made once and shared.
#[derive(Debug, PartialEq, Eq)]
pub struct NodeTable {
    /// For each rank: its node, and its place among that node's ranks.
    position: Vec<(u32, u32)>,
    /// For each node: its ranks in order.
    members: Vec<Vec<u32>>,
}

impl Nodes {
    /// The map that puts rank i on the node named `node_of[i]`. Names may be any numbers.
    pub fn table(node_of: &[u32]) -> Nodes {
        let mut names: Vec<u32> = Vec::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut position = Vec::new();
        let mut known = std::collections::HashMap::new();
        for (rank, name) in node_of.iter().enumerate() {
            let node = *known.entry(*name).or_insert_with(|| {
                names.push(*name);
                members.push(Vec::new());
                names.len() - 1
            });
            position.push((node as u32, members[node].len() as u32));
            members[node].push(rank as u32);
        }
        Nodes::Table(Arc::new(NodeTable { position, members }))
    }

    /// The number of nodes that hold `ranks` ranks.
    pub fn count(&self, ranks: u32) -> u32 {
        match self {
            Nodes::Blocks(size) => ranks.div_ceil(*size),
            Nodes::Table(table) => table.members.len() as u32,
        }
    }

    /// The node of a rank, and the rank's place among that node's ranks.
    pub fn of(&self, rank: u32) -> (u32, u32) {
        match self {
            Nodes::Blocks(size) => (rank / size, rank % size),
            Nodes::Table(table) => table.position[rank as usize],
        }
    }

    /// How many of the `ranks` ranks are on a node.
    pub fn size(&self, ranks: u32, node: u32) -> u32 {
        match self {
            Nodes::Blocks(size) => (*size).min(ranks - node * size),
            Nodes::Table(table) => table.members[node as usize].len() as u32,
        }
    }

    /// The number of ranks on the fullest node.
    pub fn largest(&self, ranks: u32) -> u32 {
        match self {
            Nodes::Blocks(size) => (*size).min(ranks),
            Nodes::Table(table) => table.members.iter().map(|m| m.len() as u32).max().unwrap_or(0),
        }
    }

    /// The rank at a place of a node.
    pub fn rank(&self, node: u32, place: u32) -> u32 {
        match self {
            Nodes::Blocks(size) => node * size + place,
            Nodes::Table(table) => table.members[node as usize][place as usize],
        }
    }

    /// Whether the map covers exactly `ranks` ranks.
    pub fn fits(&self, ranks: u32) -> bool {
        match self {
            Nodes::Blocks(size) => *size > 0,
            Nodes::Table(table) => table.position.len() == ranks as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_an_equal_table_agree() {
        let (blocks, table) = (Nodes::Blocks(3), Nodes::table(&[9, 9, 9, 4, 4, 4, 7]));
        assert_eq!((blocks.count(7), blocks.largest(7)), (table.count(7), table.largest(7)));
        for rank in 0..7 {
            assert_eq!(blocks.of(rank), table.of(rank));
            let (node, place) = table.of(rank);
            assert_eq!((blocks.rank(node, place), table.rank(node, place)), (rank, rank));
            assert_eq!(blocks.size(7, node), table.size(7, node));
        }
        assert!(table.fits(7) && !table.fits(8) && blocks.fits(8));
    }

    #[test]
    fn ranks_of_a_node_need_not_be_consecutive() {
        let nodes = Nodes::table(&[5, 6, 5, 6, 6]);
        assert_eq!((nodes.count(5), nodes.size(5, 1), nodes.of(4), nodes.rank(1, 2)), (2, 3, (1, 2), 4));
    }
}
