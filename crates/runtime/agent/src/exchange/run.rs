//! One run of a schedule among the nodes of a communicator, as one agent carries it out: steps over its
//! own three buffers, and messages.
//!
//! Every run has buffers and flags of its own, so nothing is used again, and what a schedule does to
//! make that safe is not waited for. A message is kept apart from others of the same flag by its turn:
//! it may overtake them.

use crate::exchange::buffer::Buffer;
use crate::exchange::schedule::Plan;
use bytes::Bytes;
use evenkeel_engine::collective::call::Combine;
use evenkeel_schedule::{Place, Rank, Round, Step};
use std::collections::HashSet;
use std::sync::Arc;

/// A message of a run: to whom, which flag, and what goes where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent<'a> {
    pub to: u32,
    pub slot: u32,
    pub turn: u16,
    pub at: u32,
    pub data: &'a Bytes,
    /// Whether its receiver sends something in this run, too.
    pub passed_on: bool,
}

/// How elements are combined: the function, and whether the own input is missing: then the result is of
/// the others' alone.
#[derive(Clone, Copy)]
pub struct Combining {
    pub combine: Combine,
    pub input_is_missing: bool,
}

pub struct Instance {
    plan: Arc<Plan>,
    me: Rank,
    /// Bytes of an element.
    unit: usize,
    combining: Option<Combining>,
    /// Input, output, scratch.
    buffers: [Buffer; 3],
    /// Which of input and output hold nothing yet.
    missing: [bool; 3],
    raised: HashSet<(u32, u16)>,
    round: u32,
    steps: Round,
    next: usize,
}

fn index(buffer: evenkeel_schedule::Buffer) -> usize {
    match buffer {
        evenkeel_schedule::Buffer::Input => 0,
        evenkeel_schedule::Buffer::Output => 1,
        evenkeel_schedule::Buffer::Scratch => 2,
    }
}

/// A place as a number, and back.
pub fn place_to_number(place: Place) -> u32 {
    (index(place.buffer()) as u32) << 30 | place.element()
}

fn place_from_number(number: u32) -> Place {
    use evenkeel_schedule::Buffer::{Input, Output, Scratch};
    let buffer = [Input, Output, Scratch, Scratch][(number >> 30) as usize];
    Place::new(buffer, number & (Place::MAX_ELEMENTS - 1))
}

impl Instance {
    /// `input` is as long as the operation says, in elements of `unit` bytes.
    pub fn new(
        plan: Arc<Plan>,
        me: Rank,
        unit: usize,
        combining: Option<Combining>,
        input: Vec<u8>,
    ) -> Instance {
        let schedule = &plan.schedule;
        let operation = schedule.algorithm.collective;
        let zeros = |elements: u64| Buffer::new(elements as usize * unit);
        debug_assert_eq!(input.len() as u64, operation.input_elements(&schedule.problem, me) * unit as u64);
        let buffers = [
            input.into(),
            zeros(operation.output_elements(&schedule.problem, me)),
            zeros(schedule.resources.scratch),
        ];
        let missing = [combining.is_some_and(|c| c.input_is_missing), false, false];
        let mut steps = Round::new();
        schedule.round(me, 0, &mut steps);
        Instance {
            plan,
            me,
            unit,
            combining,
            buffers,
            missing,
            raised: HashSet::new(),
            round: 0,
            steps,
            next: 0,
        }
    }

    /// Takes a message in; one that comes twice changes nothing. An error says that it fits nowhere.
    pub fn take_in(&mut self, slot: u32, turn: u16, at: u32, data: Bytes) -> Result<(), String> {
        if !self.raised.insert((slot, turn)) || data.is_empty() {
            return Ok(());
        }
        let place = place_from_number(at);
        let buffer = &mut self.buffers[index(place.buffer())];
        let length = data.len();
        if !buffer.put(place.element() as usize * self.unit, data) {
            return Err(format!("{length} bytes do not fit at {place:?} of {}", buffer.len()));
        }
        self.missing[index(place.buffer())] = false;
        Ok(())
    }

    fn bytes(&mut self, place: Place, elements: u32) -> Bytes {
        let start = place.element() as usize * self.unit;
        self.buffers[index(place.buffer())].share(start..start + elements as usize * self.unit)
    }

    fn write(&mut self, place: Place, bytes: Bytes) {
        let fits = self.buffers[index(place.buffer())].put(place.element() as usize * self.unit, bytes);
        assert!(fits, "a step at {place:?} is beyond its buffer, which the schedule's check excludes");
        self.missing[index(place.buffer())] = false;
    }

    fn is_missing(&self, place: Place) -> bool {
        self.missing[index(place.buffer())]
    }

    /// Goes on as far as it can, and hands over what is to be sent; true when it is done.
    pub fn advance(&mut self, mut send: impl FnMut(Sent<'_>)) -> bool {
        loop {
            while let Some(step) = self.steps.steps.get(self.next).copied() {
                if !self.step(step, &mut send) {
                    return false;
                }
                self.next += 1;
            }
            if self.round >= self.plan.schedule.rounds() {
                return true;
            }
            self.round += 1;
            self.next = 0;
            self.plan.schedule.round(self.me, self.round, &mut self.steps);
        }
    }

    /// Carries out a step; false if it has to wait.
    fn step(&mut self, step: Step, send: &mut impl FnMut(Sent<'_>)) -> bool {
        match step {
            // Turn 0 is of an earlier use of the same memory, and there was none.
            Step::Wait { flag, turn } => return turn == 0 || self.raised.contains(&(flag.0, turn)),
            Step::Put { to, flag, turn } if !self.plan.is_waited_for(to, flag, turn) => {}
            Step::Put { to, flag, turn } => send(Sent {
                to: to.0,
                slot: flag.0,
                turn,
                at: 0,
                data: &Bytes::new(),
                passed_on: self.plan.passes_on(to),
            }),
            Step::Multicast { to, flag, turn } => {
                to.iter().filter(|to| *to != self.me).for_each(|to| {
                    send(Sent {
                        to: to.0,
                        slot: flag.0,
                        turn,
                        at: 0,
                        data: &Bytes::new(),
                        passed_on: self.plan.passes_on(to),
                    })
                });
                if to.contains(self.me) {
                    self.raised.insert((flag.0, turn));
                }
            }
            Step::Send { to, flag, turn, from, at, length, .. } => {
                let data = self.bytes(from, length);
                send(Sent {
                    to: to.0,
                    slot: flag.0,
                    turn,
                    at: place_to_number(at),
                    data: &data,
                    passed_on: self.plan.passes_on(to),
                });
            }
            Step::Copy { from, into, length } => {
                if self.is_missing(from) {
                    self.missing[index(into.buffer())] = true;
                } else {
                    let bytes = self.bytes(from, length);
                    self.write(into, bytes);
                }
            }
            Step::Combine { into, first, second, length } => self.combine(into, first, second, length),
            // Counted for an earlier use of the same memory, or a later one.
            Step::Add { .. } | Step::AwaitCount { previous: true, .. } => {}
            Step::Share { .. } | Step::Count { .. } | Step::AwaitCount { .. } => {
                unreachable!("only schedules that send messages are chosen between nodes")
            }
        }
        true
    }

    fn combine(&mut self, into: Place, first: Place, second: Place, length: u32) {
        if self.is_missing(first) || self.is_missing(second) {
            let there = if self.is_missing(first) { second } else { first };
            let bytes = self.bytes(there, length);
            return self.write(into, bytes);
        }
        let combining = self.combining.expect("a reduction has an operator");
        let mut result = self.bytes(second, length).to_vec();
        let input = self.bytes(first, length);
        // SAFETY: both have `length` elements, and do not overlap.
        unsafe {
            (combining.combine)(
                std::ptr::null_mut(),
                input.as_ptr().cast(),
                result.as_mut_ptr().cast(),
                length as usize,
            )
        };
        self.write(into, result.into());
    }

    /// The result.
    pub fn into_output(self) -> Bytes {
        let [_, output, _] = self.buffers;
        output.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::schedule::Key;
    use evenkeel_engine::collective::call::Kind;
    use evenkeel_engine::reduction::kernels;
    use evenkeel_random::Random;
    use evenkeel_schedule::algorithms::exscan::RESULT;

    /// A message on its way.
    #[derive(Clone)]
    struct Flying {
        to: u32,
        slot: u32,
        turn: u16,
        at: u32,
        data: Bytes,
    }

    impl Flying {
        fn new(sent: Sent<'_>) -> Flying {
            let Sent { to, slot, turn, at, data, .. } = sent;
            Flying { to, slot, turn, at, data: data.clone() }
        }
    }

    /// Runs all nodes' instances; messages arrive in any order, and now and then twice. The outputs.
    fn run(
        key: Key,
        nodes: usize,
        share: bool,
        missing_at: Option<usize>,
        inputs: &[Vec<u8>],
        dice: &mut Random,
    ) -> Vec<Vec<u8>> {
        let plan = Arc::new(Plan::new(key, nodes, share));
        let combine =
            if key.kind == Kind::Exscan { compose } else { kernels::builtin("sum", 'u', 8).unwrap() };
        let combining = |node| {
            matches!(key.kind, Kind::Exscan | Kind::Reduce | Kind::Allreduce | Kind::ReduceScatterBlock)
                .then_some(Combining { combine, input_is_missing: missing_at == Some(node) })
        };
        let mut all: Vec<Instance> = (0..nodes)
            .map(|node| {
                Instance::new(
                    Arc::clone(&plan),
                    Rank(node as u32),
                    key.unit,
                    combining(node),
                    inputs[node].clone(),
                )
            })
            .collect();
        let (mut flying, mut done): (Vec<Flying>, Vec<bool>) = (Vec::new(), vec![false; nodes]);
        let mut results: Vec<Vec<u8>> = vec![Vec::new(); nodes];
        for (node, instance) in all.iter_mut().enumerate() {
            done[node] = instance.advance(|sent| flying.push(Flying::new(sent)));
        }
        while !flying.is_empty() {
            let at = dice.below(flying.len());
            let sent = if dice.below(5) == 0 { flying[at].clone() } else { flying.swap_remove(at) };
            let to = sent.to as usize;
            if key.kind == Kind::Exscan && sent.slot == RESULT.0 {
                results[to] = sent.data.to_vec();
            }
            all[to].take_in(sent.slot, sent.turn, sent.at, sent.data).unwrap();
            done[to] = done[to] || all[to].advance(|sent| flying.push(Flying::new(sent)));
        }
        assert!(done.iter().all(|done| *done), "{key:?} among {nodes}: {done:?}");
        let outputs: Vec<Vec<u8>> = all.into_iter().map(|instance| instance.into_output().to_vec()).collect();
        assert!(
            key.kind != Kind::Exscan || results == outputs,
            "one message brings a node all that its ranks get"
        );
        outputs
    }

    /// Pairs (a, b) as the function x → ax + b: the left operand is applied first. It does not commute.
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
        bytes
            .chunks_exact(8)
            .map(|pair| [0, 4].map(|at| u32::from_le_bytes(pair[at..at + 4].try_into().unwrap())))
            .collect()
    }

    fn words(node: usize, count: usize) -> Vec<u8> {
        (0..count as u64).flat_map(|i| (node as u64 * 1000 + i).to_le_bytes()).collect()
    }

    fn sum(nodes: impl Iterator<Item = usize> + Clone, count: usize) -> Vec<u8> {
        (0..count as u64)
            .flat_map(|i| nodes.clone().map(|n| n as u64 * 1000 + i).sum::<u64>().to_le_bytes())
            .collect()
    }

    #[test]
    fn every_collective_is_right_in_any_order_of_messages() {
        let mut dice = Random::new(7);
        for nodes in 2..=9 {
            for (share, count) in [(true, 3), (false, 3), (false, 600), (true, 600)] {
                for root in [0, nodes / 2, nodes - 1] {
                    let key = |kind| Key { kind, root, elements: count, unit: 8 };
                    let inputs: Vec<Vec<u8>> = (0..nodes).map(|n| words(n, count)).collect();
                    let all: Vec<u8> = inputs.concat();
                    let odd: Vec<Vec<u8>> = (0..nodes)
                        .map(|n| {
                            (0..2 * count as u32)
                                .flat_map(|i| (2 * (n as u32 * 977 + i) + 1).to_le_bytes())
                                .collect()
                        })
                        .collect();
                    let at_root = |what: &[Vec<u8>]| what[root].clone();
                    let only_root = |long: Vec<u8>| -> Vec<Vec<u8>> {
                        (0..nodes).map(|n| if n == root { long.clone() } else { Vec::new() }).collect()
                    };

                    run(
                        Key { elements: 0, ..key(Kind::Barrier) },
                        nodes,
                        share,
                        None,
                        &vec![Vec::new(); nodes],
                        &mut dice,
                    );
                    let bcast = run(
                        key(Kind::Bcast),
                        nodes,
                        share,
                        None,
                        &only_root(inputs[root].clone()),
                        &mut dice,
                    );
                    assert!(
                        (0..nodes).filter(|n| *n != root).all(|n| bcast[n] == inputs[root]),
                        "bcast from {root} of {nodes}"
                    );
                    assert_eq!(
                        at_root(&run(key(Kind::Reduce), nodes, share, None, &inputs, &mut dice)),
                        sum(0..nodes, count)
                    );
                    // The root is rank 0 here: nodes are counted from it.
                    let from_root = Key { root: 0, ..key(Kind::Reduce) };
                    assert_eq!(
                        run(from_root, nodes, share, Some(0), &inputs, &mut dice)[0],
                        sum(1..nodes, count),
                        "without the root's own"
                    );
                    let whole = Key { root: 0, ..key(Kind::Allreduce) };
                    assert!(
                        run(whole, nodes, share, None, &inputs, &mut dice)
                            .iter()
                            .all(|out| *out == sum(0..nodes, count))
                    );
                    assert_eq!(at_root(&run(key(Kind::Gather), nodes, share, None, &inputs, &mut dice)), all);
                    assert_eq!(
                        run(key(Kind::Scatter), nodes, share, None, &only_root(all.clone()), &mut dice),
                        inputs
                    );
                    for kind in [Kind::Allgather, Kind::Allgatherv] {
                        let whole = Key { root: 0, ..key(kind) };
                        assert!(
                            run(whole, nodes, share, None, &inputs, &mut dice).iter().all(|out| *out == all)
                        );
                    }
                    let parts: Vec<Vec<u8>> = (0..nodes)
                        .map(|from| (0..nodes).flat_map(|to| words(from * nodes + to, count)).collect())
                        .collect();
                    let got =
                        run(Key { root: 0, ..key(Kind::Alltoall) }, nodes, share, None, &parts, &mut dice);
                    for (to, out) in got.iter().enumerate() {
                        assert_eq!(
                            *out,
                            (0..nodes).flat_map(|from| words(from * nodes + to, count)).collect::<Vec<u8>>()
                        );
                    }
                    let got = run(
                        Key { root: 0, ..key(Kind::ReduceScatterBlock) },
                        nodes,
                        share,
                        None,
                        &parts,
                        &mut dice,
                    );
                    for (to, out) in got.iter().enumerate() {
                        assert_eq!(
                            *out,
                            sum((0..nodes).map(|from| from * nodes + to), count),
                            "part {to} of {nodes}"
                        );
                    }
                    let before =
                        run(Key { root: 0, ..key(Kind::Exscan) }, nodes, share, None, &odd, &mut dice);
                    let mut wanted = pairs(&odd[0]);
                    for node in 1..nodes {
                        assert_eq!(pairs(&before[node]), wanted, "before node {node} of {nodes}");
                        wanted
                            .iter_mut()
                            .zip(pairs(&odd[node]))
                            .for_each(|(all, own)| *all = composed(*all, own));
                    }
                }
            }
        }
    }

    #[test]
    fn what_fits_nowhere_is_refused() {
        let key = Key { kind: Kind::Bcast, root: 0, elements: 4, unit: 1 };
        let mut instance = Instance::new(Arc::new(Plan::new(key, 2, true)), Rank(1), 1, None, Vec::new());
        assert!(
            instance
                .take_in(0, 1, place_to_number(Place::output(2)), Bytes::from_static(&[1, 2, 3]))
                .is_err()
        );
    }
}
