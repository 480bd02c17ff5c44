//! The exchange between nodes gives what each collective defines, whatever the order of messages, and with
//! some of them arriving twice.

use evenkeel_agent::exchange::run::{OutgoingStep, Reduction, ScheduleRun};
use evenkeel_agent::exchange::schedule::{ExchangeSchedule, ScheduleKey};
use evenkeel_engine::reduction::kernels;
use evenkeel_random::Random;
use evenkeel_schedule::Rank;
use evenkeel_schedule::algorithms::exscan::RESULT;
use evenkeel_spanning::CollectiveKind;
use std::sync::Arc;

const ELEMENT_BYTES: usize = 8;

/// Nodes that exchange data.
#[derive(Clone, Copy, Debug)]
struct Nodes {
    count: usize,
    share_cores: bool,
    root: usize,
    /// Elements of a vector, or of a block.
    elements: usize,
}

impl Nodes {
    /// What each node gets of an exchange without a root, or from the root of these nodes.
    fn exchange(&self, kind: CollectiveKind, inputs: &[Vec<u8>], random: &mut Random) -> Vec<Vec<u8>> {
        use CollectiveKind::*;
        let root = if matches!(kind, Bcast | Reduce | Gather | Scatter) { self.root } else { 0 };
        self.exchange_from(kind, root, None, inputs, random)
    }

    /// The same with a root of its own. `missing`: the node whose input takes no part in a reduction.
    fn exchange_from(
        &self,
        kind: CollectiveKind,
        root: usize,
        missing: Option<usize>,
        inputs: &[Vec<u8>],
        random: &mut Random,
    ) -> Vec<Vec<u8>> {
        let elements = if kind == CollectiveKind::Barrier { 0 } else { self.elements };
        let key = ScheduleKey { kind, root, elements, element_bytes: ELEMENT_BYTES };
        let schedule = Arc::new(ExchangeSchedule::new(key, self.count, self.share_cores));
        let mut runs: Vec<ScheduleRun> = (0..self.count)
            .map(|node| {
                let reduction = reduction(kind, missing == Some(node));
                let input = inputs[node].clone();
                ScheduleRun::new(Arc::clone(&schedule), Rank(node as u32), ELEMENT_BYTES, reduction, input)
            })
            .collect();
        let prefixes = deliver_in_any_order(&mut runs, random);
        let outputs: Vec<Vec<u8>> = runs.into_iter().map(|run| run.into_output().to_vec()).collect();
        if kind == CollectiveKind::Exscan {
            assert_eq!(prefixes, outputs, "one message brings a node all that its ranks get");
        }
        outputs
    }

    fn per_node(&self, data: impl Fn(usize) -> Vec<u8>) -> Vec<Vec<u8>> {
        (0..self.count).map(data).collect()
    }

    fn only_root(&self, data: &[u8]) -> Vec<Vec<u8>> {
        self.per_node(|node| if node == self.root { data.to_vec() } else { Vec::new() })
    }
}

/// Advances all runs to their ends. What each of them has got in the message that brings a scan's result.
fn deliver_in_any_order(runs: &mut [ScheduleRun], random: &mut Random) -> Vec<Vec<u8>> {
    let mut on_the_way: Vec<OutgoingStep> = Vec::new();
    let mut is_done: Vec<bool> = runs.iter_mut().map(|run| run.advance(&mut on_the_way)).collect();
    let mut prefixes = vec![Vec::new(); runs.len()];
    while !on_the_way.is_empty() {
        let at = random.below(on_the_way.len());
        let arrives_again = random.below(5) == 0;
        let OutgoingStep { to, step, .. } =
            if arrives_again { on_the_way[at].clone() } else { on_the_way.swap_remove(at) };
        let to = to.0 as usize;
        if step.flag == RESULT {
            prefixes[to] = step.data.to_vec();
        }
        runs[to].receive(step).unwrap();
        is_done[to] = is_done[to] || runs[to].advance(&mut on_the_way);
    }
    assert!(is_done.iter().all(|done| *done), "{is_done:?}");
    prefixes
}

fn reduction(kind: CollectiveKind, input_is_missing: bool) -> Option<Reduction> {
    use CollectiveKind::*;
    let combine = if kind == Exscan { compose } else { kernels::builtin("sum", 'u', ELEMENT_BYTES).unwrap() };
    matches!(kind, Exscan | Reduce | Allreduce | ReduceScatterBlock)
        .then_some(Reduction { combine, input_is_missing })
}

/// Pairs (a, b) as the function x → ax + b, of which the left one is applied first. It does not commute.
unsafe extern "C" fn compose(
    _: *mut std::ffi::c_void,
    input: *const std::ffi::c_void,
    inout: *mut std::ffi::c_void,
    count: usize,
) {
    for i in 0..count {
        // SAFETY: both have `count` pairs of four-byte words.
        unsafe {
            let (left, right) = (
                input.cast::<[u32; 2]>().add(i).read_unaligned(),
                inout.cast::<[u32; 2]>().add(i).read_unaligned(),
            );
            inout.cast::<[u32; 2]>().add(i).write_unaligned(composed(left, right));
        }
    }
}

fn composed([a, b]: [u32; 2], [c, d]: [u32; 2]) -> [u32; 2] {
    [a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)]
}

fn pairs(bytes: &[u8]) -> Vec<[u32; 2]> {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks_exact(8).map(|pair| [word(&pair[..4]), word(&pair[4..])]).collect()
}

/// The data of node number `node`: words that are the node's own.
fn words(node: usize, count: usize) -> Vec<u8> {
    (0..count as u64).flat_map(|i| (node as u64 * 1000 + i).to_le_bytes()).collect()
}

/// The sum of the data of several nodes.
fn sum(nodes: impl Iterator<Item = usize> + Clone, count: usize) -> Vec<u8> {
    (0..count as u64)
        .flat_map(|i| nodes.clone().map(|node| node as u64 * 1000 + i).sum::<u64>().to_le_bytes())
        .collect()
}

/// Checks a collective on all numbers of nodes, roots and lengths.
fn on_all_nodes(check: impl Fn(Nodes, &mut Random)) {
    let mut random = Random::new(7);
    for count in 2..=9 {
        for (share_cores, elements) in [(true, 3), (false, 3), (false, 600), (true, 600)] {
            for root in [0, count / 2, count - 1] {
                check(Nodes { count, share_cores, root, elements }, &mut random);
            }
        }
    }
}

#[test]
fn a_barrier_ends_on_every_node() {
    on_all_nodes(|nodes, random| {
        nodes.exchange(CollectiveKind::Barrier, &nodes.per_node(|_| Vec::new()), random);
    });
}

#[test]
fn a_broadcast_gives_every_other_node_the_roots_data() {
    on_all_nodes(|nodes, random| {
        let data = words(nodes.root, nodes.elements);
        let got = nodes.exchange(CollectiveKind::Bcast, &nodes.only_root(&data), random);
        assert!((0..nodes.count).all(|node| node == nodes.root || got[node] == data), "{nodes:?}");
    });
}

#[test]
fn a_reduction_gives_the_root_the_sum() {
    on_all_nodes(|nodes, random| {
        let inputs = nodes.per_node(|node| words(node, nodes.elements));
        let got = nodes.exchange(CollectiveKind::Reduce, &inputs, random);
        assert_eq!(got[nodes.root], sum(0..nodes.count, nodes.elements), "{nodes:?}");
        // Agents count nodes from the root, whose own input they do not have.
        let got = nodes.exchange_from(CollectiveKind::Reduce, 0, Some(0), &inputs, random);
        assert_eq!(got[0], sum(1..nodes.count, nodes.elements), "without the root's own: {nodes:?}");
    });
}

#[test]
fn an_allreduce_gives_every_node_the_sum() {
    on_all_nodes(|nodes, random| {
        let inputs = nodes.per_node(|node| words(node, nodes.elements));
        let expected = sum(0..nodes.count, nodes.elements);
        let got = nodes.exchange(CollectiveKind::Allreduce, &inputs, random);
        assert!(got.iter().all(|got| *got == expected), "{nodes:?}");
    });
}

#[test]
fn gathers_and_scatters_move_every_block() {
    on_all_nodes(|nodes, random| {
        let blocks = nodes.per_node(|node| words(node, nodes.elements));
        let all = blocks.concat();
        assert_eq!(nodes.exchange(CollectiveKind::Gather, &blocks, random)[nodes.root], all, "{nodes:?}");
        assert_eq!(
            nodes.exchange(CollectiveKind::Scatter, &nodes.only_root(&all), random),
            blocks,
            "{nodes:?}"
        );
        for kind in [CollectiveKind::Allgather, CollectiveKind::Allgatherv] {
            let got = nodes.exchange(kind, &blocks, random);
            assert!(got.iter().all(|got| *got == all), "{kind:?}, {nodes:?}");
        }
    });
}

#[test]
fn every_node_gets_its_parts_of_all_others() {
    on_all_nodes(|nodes, random| {
        let Nodes { count, elements, .. } = nodes;
        let inputs =
            nodes.per_node(|from| (0..count).flat_map(|to| words(from * count + to, elements)).collect());
        let got = nodes.exchange(CollectiveKind::Alltoall, &inputs, random);
        let reduced = nodes.exchange(CollectiveKind::ReduceScatterBlock, &inputs, random);
        for to in 0..count {
            let parts = (0..count).map(|from| from * count + to);
            let expected: Vec<u8> = parts.clone().flat_map(|part| words(part, elements)).collect();
            assert_eq!(got[to], expected, "part {to} of {nodes:?}");
            assert_eq!(reduced[to], sum(parts, elements), "part {to} of {nodes:?}");
        }
    });
}

#[test]
fn a_scan_gives_every_node_what_those_before_it_have() {
    on_all_nodes(|nodes, random| {
        // Odd factors, so that no product becomes 0.
        let odd = |node: usize| {
            let factor = |i: u32| 2 * (node as u32 * 977 + i) + 1;
            (0..2 * nodes.elements as u32).flat_map(|i| factor(i).to_le_bytes()).collect::<Vec<u8>>()
        };
        let inputs = nodes.per_node(odd);
        let got = nodes.exchange(CollectiveKind::Exscan, &inputs, random);
        let mut expected = pairs(&inputs[0]);
        for node in 1..nodes.count {
            assert_eq!(pairs(&got[node]), expected, "before node {node} of {nodes:?}");
            for (all, own) in expected.iter_mut().zip(pairs(&inputs[node])) {
                *all = composed(*all, own);
            }
        }
    });
}
