//! Which node starts which.

use crate::job::Place;

/// The subtrees below a node that is to reach `places`: at most `fanout`, of lengths that differ by one at
/// most. The first place of each is the child, the others are what it is to reach in turn.
pub(crate) fn subtrees(places: &[Place], fanout: usize) -> Vec<Vec<Place>> {
    let count = fanout.max(1).min(places.len());
    let mut rest = places;
    let mut found = Vec::new();
    for left in (1..=count).rev() {
        let (subtree, behind) = rest.split_at(rest.len().div_ceil(left));
        found.push(subtree.to_vec());
        rest = behind;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every place once, in order, however wide the tree is; no node starts more than it may.
    #[test]
    fn each_host_is_started_once() {
        fn walk(places: &[Place], fanout: usize, found: &mut Vec<u32>) -> usize {
            let below = subtrees(places, fanout);
            assert!(below.len() <= fanout);
            let mut depth = 0;
            for subtree in below {
                found.push(subtree[0].first_rank);
                depth = depth.max(1 + walk(&subtree[1..], fanout, found));
            }
            depth
        }
        for hosts in 0..40u32 {
            let places: Vec<Place> = (0..hosts)
                .map(|n| Place { host: format!("h{n}"), number: n, ranks: 1, first_rank: n })
                .collect();
            for fanout in 1..9 {
                let mut found = Vec::new();
                let depth = walk(&places, fanout, &mut found);
                assert_eq!(found, (0..hosts).collect::<Vec<_>>());
                if fanout >= 2 {
                    assert!(depth <= 6, "{hosts} hosts, {fanout}: {depth}");
                }
            }
        }
    }
}
