//! A communicator across nodes, as one of its ranks sees it.

use super::commands::{NewComm, Order};
use super::operation::SpanningOperation;
use crate::barrier::deferral;
use crate::clock::Ticks;
use crate::collective::call::{Call, Combine, Kind};
use crate::collective::plan::{Plan, Route};
use crate::comm::communicator::{Comm, Revoked};
use crate::comm::shared::Served;
use crate::job::node::World;
use crate::record::tally::is_sampled;
use crate::reduction::kernels;
use crate::wait::policy::offer_the_core;
use evenkeel_random::Random;
use evenkeel_segment::Geometry;
use evenkeel_segment::block::Block;
use evenkeel_spanning::description::MAX_MEMBERS;
use evenkeel_spanning::{Location, NodeMap, cut};
use std::sync::Arc;

/// Most nodes of a communicator, and members on one, that fit into one order to the agent.
const MOST_TOLD: usize = 256;
const _: () = assert!(MOST_TOLD <= MAX_MEMBERS);

/// What a communicator across nodes has beside its members.
pub struct Across {
    /// The job's name for it.
    id: u64,
    /// The members here and, last, the node's agent.
    pub local: Arc<Comm>,
    map: Arc<NodeMap>,
    me: usize,
}

/// What one member tells all others about a new communicator: the segment's name for the part on its
/// node, if it is the first there, and the job's name, if it is the first of all. 0: there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Offer {
    block: u64,
    id: u64,
}

impl World {
    /// How a communicator of these members lies on the job's nodes; None if one node has all, or if it
    /// cannot be served, which all members find alike.
    pub fn spanned(&self, members: &[i32]) -> Option<Arc<NodeMap>> {
        let job = self.job()?;
        let nodes: Option<Vec<u32>> =
            members.iter().map(|m| job.node_of.get(usize::try_from(*m).ok()?).copied()).collect();
        let map = NodeMap::new(&nodes?);
        (map.nodes.len() > 1 && map.nodes.len() <= MOST_TOLD && map.counts.largest() <= MOST_TOLD)
            .then(|| Arc::new(map))
    }
}

fn location(map: &NodeMap, me: usize) -> (usize, usize) {
    let Location { node, local_rank } = map.locations[me];
    (node as usize, local_rank as usize)
}

/// This member's offer for a new communicator.
pub fn offer(world: &World, map: &NodeMap, me: usize) -> Offer {
    let (node, local_rank) = location(map, me);
    if local_rank != 0 {
        return Offer::default();
    }
    let geometry = Geometry::spanning(map.counts.on(node) + 1);
    let block = world.blocks().allocate(&geometry).map_or(0, Block::id);
    Offer { block, id: if me == 0 { world.next_job_id() } else { 0 } }
}

impl Across {
    /// From all members' offers; None if there was no room on some node.
    pub fn from_offers(
        world: &'static World,
        map: Arc<NodeMap>,
        offers: &[Offer],
        members: &[i32],
        me: usize,
    ) -> Option<Across> {
        let first = |node: usize| map.members(node).next().expect("a node that is listed has a member");
        let blocks: Option<Vec<Block>> =
            (0..map.nodes.len()).map(|node| Block::from_id(offers[first(node)].block)).collect();
        let (node, _) = location(&map, me);
        match blocks {
            Some(blocks) => Some(Across::new(world, offers[0].id, map, blocks[node], members, me)),
            None => {
                // What was reserved here goes back: every member drops its reference, and the first one the
                // agent's.
                let geometry = Geometry::spanning(map.counts.on(node) + 1);
                if let Some(block) = Block::from_id(offers[first(node)].block) {
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
    ) -> Across {
        let (node, local_rank) = location(&map, me);
        let here: Vec<u32> = map.members(node).map(|rank| members[rank] as u32).collect();
        if local_rank == 0 {
            let nodes =
                map.nodes.iter().enumerate().map(|(at, node)| (*node, map.counts.on(at) as u32)).collect();
            world.tell_agent(&Order::Attach(NewComm {
                id,
                block: block.id(),
                members: here.clone(),
                nodes,
                mine: node as u32,
            }));
        }
        Across { id, local: part(world, block, &here, local_rank), map, me }
    }

    /// The communicator's `number`-th duplicate; all members ask in the same order.
    pub fn duplicate(&self, number: u64, members: &[i32], me: usize) -> Across {
        let served = self.served();
        let block = served.world.blocks().duplicate(
            served.block,
            &served.board.geometry,
            self.local.ranks - 1,
            number,
            offer_the_core,
        );
        // On the other nodes there may be room, and nobody is asked: a duplicate need not wait for anybody.
        let Some(block) = block else {
            served.world.end("the segment has no room for another communicator, and on other nodes it may have: the job cannot go on. Free communicators that are no longer used, or set EVENKEEL_NODES=library");
        };
        let id = name_of_duplicate(self.id, number);
        Across::new(served.world, id, Arc::clone(&self.map), block, members, me)
    }

    fn served(&self) -> &Served {
        self.local.served.as_ref().expect("the part here is served")
    }

    /// How a call is cut; None if the host must carry it out, for all members alike.
    fn slice(&self, kind: Kind, bytes: usize, combine: Option<Combine>, nonblocking: bool) -> Option<usize> {
        // The agents know operators by number: those of the program's own are not among them.
        let operator = combine.and_then(|combine| Some(kernels::numbered(kernels::number_of(combine)?)?.1));
        cut::piece_bytes(kind, bytes, operator, nonblocking, &self.map)
    }

    pub fn takes(&self, kind: Kind, bytes: usize, combine: Option<Combine>, nonblocking: bool) -> bool {
        self.slice(kind, bytes, combine, nonblocking).is_some()
            && (!nonblocking || self.local.companion().is_some())
    }

    /// A call that `takes` has accepted, to be moved on by `poll`.
    pub fn operation(&self, call: &Call, nonblocking: bool) -> SpanningOperation {
        let slice = self
            .slice(call.kind(), call.bytes, call.combine, nonblocking)
            .expect("the front end asks `takes` first");
        SpanningOperation::new(*call, Arc::clone(&self.map), self.me, slice, nonblocking)
    }

    /// Carries out a call that `takes` has accepted; how long this rank has waited.
    pub fn run(&self, call: &Call, expected_ns: u64) -> Result<u64, Revoked> {
        let (local, served) = (&*self.local, self.served());
        if deferral::any_pending() {
            deferral::before_collective(local, call.leaves_at_once(self.map.ranks(), self.me));
        }
        let mut operation = self.operation(call, false);
        let mut poll = || local.with(|state| operation.poll(local, served, state));
        if poll() { Ok(0) } else { local.wait(served, call.kind(), expected_ns, poll) }
    }

    /// Ends this rank's part in it.
    pub(crate) fn detach(&self) {
        let served = self.served();
        let companion = self.local.companion_if_made();
        for served in std::iter::once(served).chain(companion.and_then(|c| c.served.as_ref())) {
            served.world.blocks().drop_reference(served.block, &served.board.geometry);
        }
        served.world.tell_agent(&Order::Detach { id: self.id });
    }

    /// Ends all that is under way on it, on all nodes.
    pub(crate) fn revoke(&self) {
        self.local.revoke();
        self.served().world.tell_agent(&Order::Revoke { id: self.id });
    }
}

impl Comm {
    /// [`Comm::takes`] where there is something across nodes.
    #[cold]
    pub(crate) fn takes_across(
        &self,
        across: &Across,
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
    pub(crate) fn run_across(&self, across: &Across, call: &Call) -> Result<(), Revoked> {
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

/// The job's name for a duplicate, which every member works out for itself: the highest bit keeps it
/// apart from names that are handed out, and the rest is drawn from a sequence of its own, so that two
/// duplicates hardly ever share one.
fn name_of_duplicate(parent: u64, number: u64) -> u64 {
    Random::stream(parent, number).bits() | 1 << 63
}

/// The part on one node of a communicator across nodes, for the member in a seat; the agent's is the last.
pub(crate) fn part(world: &'static World, block: Block, here: &[u32], seat: usize) -> Arc<Comm> {
    let agent = world.ranks as u32;
    let members: Vec<i32> = here.iter().chain([&agent]).map(|rank| *rank as i32).collect();
    let places = members
        .iter()
        .map(|rank| world.place_of(*rank as usize).expect("members here, and the agent, have places"))
        .collect();
    Arc::new(Comm::of_part(block, &members, seat, Served::across(world, block, block, places)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn duplicates_have_names_of_their_own() {
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
