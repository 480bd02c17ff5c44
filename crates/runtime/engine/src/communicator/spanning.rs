//! A communicator that spans nodes, as one of its ranks sees it.

use crate::clock::Ticks;
use crate::collective::call::{Call, Combine, Kind};
use crate::collective::plan::{Plan, Route};
use crate::comm::shared::Served;
use crate::communicator::node::{Comm, Revoked};
use crate::deferral::pending as deferral;
use crate::job::agent_commands::{AgentCommand, NewCommunicator};
use crate::job::node::World;
use crate::record::tally::is_sampled;
use crate::reduction::kernels;
use crate::spanning::operation::SpanningOperation;
use crate::wait::settings::offer_the_core;
use evenkeel_random::Random;
use evenkeel_segment::Geometry;
use evenkeel_segment::block::Block;
use evenkeel_spanning::description::MAX_MEMBERS;
use evenkeel_spanning::{Location, NodeMap, cut};
use std::sync::Arc;

/// Most nodes of a communicator, and most members on one of them, that fit into one command to the agent.
const MAX_IN_COMMAND: usize = 256;
const _: () = assert!(MAX_IN_COMMAND <= MAX_MEMBERS);

/// What a communicator has because it spans nodes.
pub struct SpanningCommunicator {
    /// The job's name for it.
    id: u64,
    /// The communicator of the members here and, last, the node's agent.
    pub local: Arc<Comm>,
    map: Arc<NodeMap>,
    /// The calling rank.
    rank: usize,
}

/// What one member has reserved for a new communicator and tells all others: the segment's name for the
/// block on its node, if it is the first member there, and the job's name for the communicator, if it is
/// the first of all. 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Reservation {
    block: u64,
    id: u64,
}

impl World {
    /// Which nodes a communicator of these members spans; None if one node has all members, or if agents
    /// cannot serve it. All members find the same.
    pub fn spanned(&self, members: &[i32]) -> Option<Arc<NodeMap>> {
        let job = self.job()?;
        let nodes: Option<Vec<u32>> =
            members.iter().map(|m| job.node_of.get(usize::try_from(*m).ok()?).copied()).collect();
        let map = NodeMap::new(&nodes?);
        (map.nodes.len() > 1 && map.nodes.len() <= MAX_IN_COMMAND && map.counts.largest() <= MAX_IN_COMMAND)
            .then(|| Arc::new(map))
    }
}

fn location(map: &NodeMap, me: usize) -> (usize, usize) {
    let Location { node, local_rank } = map.locations[me];
    (node as usize, local_rank as usize)
}

/// Reserves what a new communicator needs from this member.
pub fn reserve(world: &World, map: &NodeMap, me: usize) -> Reservation {
    let (node, local_rank) = location(map, me);
    if local_rank != 0 {
        return Reservation::default();
    }
    let geometry = Geometry::spanning(map.counts.on(node) + 1);
    let block = world.blocks().allocate(&geometry).map_or(0, Block::id);
    Reservation { block, id: if me == 0 { world.name_communicator() } else { 0 } }
}

impl SpanningCommunicator {
    /// From what all members have reserved, in rank order; None if there was no room on some node.
    pub fn from_reservations(
        world: &'static World,
        map: Arc<NodeMap>,
        reservations: &[Reservation],
        members: &[i32],
        me: usize,
    ) -> Option<SpanningCommunicator> {
        let first = |node: usize| map.members(node).next().expect("a node that is listed has a member");
        let blocks: Option<Vec<Block>> =
            (0..map.nodes.len()).map(|node| Block::from_id(reservations[first(node)].block)).collect();
        let (node, _) = location(&map, me);
        match blocks {
            Some(blocks) => {
                Some(SpanningCommunicator::new(world, reservations[0].id, map, blocks[node], members, me))
            }
            None => {
                // What was reserved here goes back: every member drops its reference, and the first one also
                // the agent's.
                let geometry = Geometry::spanning(map.counts.on(node) + 1);
                if let Some(block) = Block::from_id(reservations[first(node)].block) {
                    let references = if first(node) == me { 2 } else { 1 };
                    (0..references).for_each(|_| world.blocks().drop_reference(block, &geometry));
                }
                None
            }
        }
    }

    fn new(
        world: &'static World,
        id: u64,
        map: Arc<NodeMap>,
        block: Block,
        members: &[i32],
        me: usize,
    ) -> SpanningCommunicator {
        let (node, local_rank) = location(&map, me);
        let here: Vec<u32> = map.members(node).map(|rank| members[rank] as u32).collect();
        if local_rank == 0 {
            let nodes =
                map.nodes.iter().enumerate().map(|(at, node)| (*node, map.counts.on(at) as u32)).collect();
            world.tell_agent(&AgentCommand::Attach(NewCommunicator {
                id,
                block: block.id(),
                members: here.clone(),
                nodes,
                this_node: node as u32,
            }));
        }
        SpanningCommunicator { id, local: part(world, block, &here, local_rank), map, rank: me }
    }

    /// The communicator's duplicate number `number`. All members make their duplicates in the same order,
    /// and no member waits for another one.
    pub fn duplicate(&self, number: u64, members: &[i32], me: usize) -> SpanningCommunicator {
        let served = self.served();
        let block = served.world.blocks().duplicate(
            served.block,
            &served.board.geometry,
            self.local.ranks - 1,
            number,
            offer_the_core,
        );
        let Some(block) = block else {
            // Other nodes may have room, and cannot be asked without waiting for them.
            served.world.end(
                "the segment has no room for another communicator, and on other nodes it may have: the \
                 job cannot go on. Free communicators that are no longer used, or set EVENKEEL_NODES=library",
            );
        };
        let id = name_of_duplicate(self.id, number);
        SpanningCommunicator::new(served.world, id, Arc::clone(&self.map), block, members, me)
    }

    fn served(&self) -> &Served {
        self.local.served.as_ref().expect("the part of a communicator on a node is served by its segment")
    }

    /// Bytes of the pieces that a call is cut into; None if the host must carry it out, for all members
    /// alike.
    fn piece_bytes(
        &self,
        kind: Kind,
        bytes: usize,
        combine: Option<Combine>,
        nonblocking: bool,
    ) -> Option<usize> {
        // Agents know operators by number. Those that the program has defined have none.
        let operator = combine.and_then(|combine| Some(kernels::numbered(kernels::number_of(combine)?)?.1));
        cut::piece_bytes(kind, bytes, operator, nonblocking, &self.map)
    }

    /// Whether evenkeel carries such a call out; otherwise the host must, for all members alike.
    pub fn takes(&self, kind: Kind, bytes: usize, combine: Option<Combine>, nonblocking: bool) -> bool {
        self.piece_bytes(kind, bytes, combine, nonblocking).is_some()
            && (!nonblocking || self.local.companion().is_some())
    }

    /// A call that `takes` has accepted, to be moved on by `poll`.
    pub fn operation(&self, call: &Call, nonblocking: bool) -> SpanningOperation {
        let piece_bytes = self
            .piece_bytes(call.kind(), call.bytes, call.combine, nonblocking)
            .expect("the front end asks `takes` first");
        SpanningOperation::new(*call, Arc::clone(&self.map), self.rank, piece_bytes, nonblocking)
    }

    /// Carries out a call that `takes` has accepted. How long this rank has waited, in nanoseconds.
    pub fn run(&self, call: &Call, expected_ns: u64) -> Result<u64, Revoked> {
        let (local, served) = (&*self.local, self.served());
        if deferral::any_pending() {
            deferral::before_collective(local, call.leaves_at_once(self.map.ranks(), self.rank));
        }
        let mut operation = self.operation(call, false);
        let mut poll = || local.with(|state| operation.poll(local, served, state));
        if poll() { Ok(0) } else { local.wait(served, call.kind(), expected_ns, poll) }
    }

    /// Frees the communicator on this rank.
    pub(crate) fn detach(&self) {
        let served = self.served();
        let companion = self.local.companion_if_made();
        for served in std::iter::once(served).chain(companion.and_then(|c| c.served.as_ref())) {
            served.world.blocks().drop_reference(served.block, &served.board.geometry);
        }
        served.world.tell_agent(&AgentCommand::Detach { id: self.id });
    }

    /// Ends all that is under way on the communicator, on all nodes.
    pub(crate) fn revoke(&self) {
        self.local.revoke();
        self.served().world.tell_agent(&AgentCommand::Revoke { id: self.id });
    }
}

impl Comm {
    /// [`Comm::takes`] of a communicator that spans nodes.
    #[cold]
    pub(crate) fn takes_across(
        &self,
        across: &SpanningCommunicator,
        kind: Kind,
        bytes: usize,
        combine: Option<Combine>,
        nonblocking: bool,
    ) -> Option<Plan> {
        let taken = !self.is_known_revoked() && across.takes(kind, bytes, combine, nonblocking);
        if !taken {
            self.with(|state| state.tallies.of(kind, nonblocking).host_calls += 1);
        }
        taken.then_some(Plan { route: Route::Segment, instances: 1, slice: bytes })
    }

    /// [`Comm::run`] of a call that `takes_across` has accepted.
    #[inline(never)]
    pub(crate) fn run_across(&self, across: &SpanningCommunicator, call: &Call) -> Result<(), Revoked> {
        let kind = call.kind();
        let began = Ticks::now();
        let expected = self.with(|state| state.expected_ns[kind as usize]);
        let waited_ns = across.run(call, expected)?;
        let recording = across.served().world.recording;
        self.with(|state| {
            state.learn(kind, waited_ns);
            if !recording {
                return;
            }
            let tally = state.tallies.of(kind, false);
            tally.calls += 1;
            tally.bytes += call.bytes as u64;
            tally.wait_ns += waited_ns;
            if is_sampled(tally.calls) {
                tally.sample(Ticks::now().ns_since(began), waited_ns);
            }
        });
        Ok(())
    }
}

/// The job's name for a duplicate, which every member works out for itself. The highest bit tells it from
/// names that are given to new communicators. The rest is drawn from a random sequence of the parent's,
/// so that two duplicates hardly ever share a name.
fn name_of_duplicate(parent: u64, number: u64) -> u64 {
    Random::stream(parent, number).bits() | 1 << 63
}

/// The part of a communicator on one node, for one of its members there. `here`: world ranks of the
/// ranks; the agent is the last member.
pub(crate) fn part(world: &'static World, block: Block, here: &[u32], local_rank: usize) -> Arc<Comm> {
    let agent = world.ranks as u32;
    let members: Vec<i32> = here.iter().chain([&agent]).map(|rank| *rank as i32).collect();
    let places = members
        .iter()
        .map(|rank| world.place_of(*rank as usize).expect("the ranks here and the agent have places"))
        .collect();
    Arc::new(Comm::of_part(block, &members, local_rank, Served::across(world, block, block, places)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_duplicates_have_the_same_name() {
        let mut names = HashSet::new();
        for parent in (1..200u64).flat_map(|n| [n << 32, n << 32 | 7]) {
            for number in 0..50 {
                let child = name_of_duplicate(parent, number);
                assert!(
                    names.insert(child) && names.insert(name_of_duplicate(child, number)),
                    "{parent:x}, {number}"
                );
            }
        }
    }
}
