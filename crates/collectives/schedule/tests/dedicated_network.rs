//! The dedicated network: every order in which nodes enter, look and leave.

use evenkeel_schedule::devices::dedicated_network::{DedicatedNetwork, Node};
use std::collections::HashSet;
use std::hash::Hash;

/// Nodes at the dedicated network. Wires are slow: the network and the nodes each read them at any time.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Wired<N> {
    network: N,
    nodes: Vec<Node>,
    wires: Vec<bool>,
    shown: bool,
    entered: Vec<u32>,
    left: Vec<u32>,
}

/// Every order in which nodes enter, look and leave and the network updates, for some barriers. Returns
/// which node leaves early, or the number of states.
fn wired<N: Clone + Eq + Hash>(
    network: N,
    look: impl Fn(&mut N, &[bool]) -> bool,
    barriers: u32,
    members: &[bool],
) -> Result<usize, String> {
    let n = members.len();
    let start = Wired {
        network,
        nodes: vec![Node::default(); n],
        wires: vec![false; n],
        shown: false,
        entered: vec![0; n],
        left: vec![0; n],
    };
    let mut seen = HashSet::from([start.clone()]);
    let mut open = vec![start];
    let mut ended = false;
    while let Some(state) = open.pop() {
        let mut next = Vec::new();
        let mut looked = state.clone();
        looked.shown = look(&mut looked.network, &state.wires);
        next.push(looked);
        for node in (0..n).filter(|node| members[*node]) {
            let mut after = state.clone();
            if state.entered[node] == state.left[node] {
                if state.entered[node] == barriers {
                    continue;
                }
                after.entered[node] += 1;
                after.wires[node] = after.nodes[node].enter();
            } else if state.nodes[node].may_leave(state.shown) {
                after.left[node] += 1;
                if let Some(missing) = (0..n).find(|m| members[*m] && state.entered[*m] < after.left[node]) {
                    return Err(format!(
                        "node {node} leaves barrier {} before node {missing} has entered it",
                        after.left[node]
                    ));
                }
            }
            next.push(after);
        }
        ended |= (0..n).all(|node| !members[node] || state.left[node] == barriers);
        open.extend(next.into_iter().filter(|s| seen.insert(s.clone())));
    }
    if ended { Ok(seen.len()) } else { Err("no order reaches the end".into()) }
}

#[test]
fn the_dedicated_network_is_right_for_any_group() {
    for members in [vec![true; 3], vec![true; 4], vec![true, false, true], vec![true]] {
        let states = wired(
            DedicatedNetwork::new(members.clone()),
            |network, wires| network.update(wires),
            4,
            &members,
        );
        assert!(states.as_ref().is_ok_and(|s| *s > 8), "{states:?}");
    }
}

#[test]
fn without_its_state_the_network_would_let_nodes_leave_early() {
    // From the inputs alone, the network would show 0 in the second barrier at the first 0.
    let found = wired((), |(), wires| wires.iter().all(|w| *w), 2, &[true; 3]);
    assert!(found.is_err_and(|e| e.contains("leaves barrier 2")));
}
