//! A communicator whose members are on several nodes, as one of its ranks sees it.

use super::identity::Identity;
use super::service::NodeService;
use crate::collective::call::{Call, CollectiveKind};
use crate::comm::shared::Shared;
use crate::direct::description::Description;
use crate::direct::part::{self, DirectPart};
use crate::job::agent_commands::{AgentCommand, NewCommunicator};
use crate::job::node::Node;
use crate::lock::lock;
use crate::record::tally::{Tallies, is_sampled};
use crate::reduction::operators::OperatorTable;
use crate::spanning::choice::{Carrier, Choices, Class, Step, Times};
use crate::spanning::operation::SpanningOperation;
use crate::spanning::reservation::Reservation;
use crate::wait::expectation;
use evenkeel_random::Random;
use evenkeel_record::CommRecord;
use evenkeel_segment::Geometry;
use evenkeel_segment::block::Block;
use evenkeel_segment::waiters::Kind;
use evenkeel_spanning::{NodeMap, cut};
use std::sync::{Arc, Mutex, MutexGuard};

/// Counters of the calls on a communicator that spans nodes.
struct Counters {
    tallies: Tallies,
    /// Running mean of recent waits, per kind, in nanoseconds.
    expected_ns: [u64; CollectiveKind::COUNT],
}

/// A communicator whose members are on several nodes.
// In C order, like `NodeCommunicator`: `service` is at the same offset in both, which saves each call a
// branch.
#[repr(C)]
pub struct SpanningCommunicator {
    /// Its members and name.
    pub identity: Identity,
    /// Its part on this node: the members here and, as the last member, the node's agent.
    pub service: NodeService,
    /// The id by which the agents of all nodes know it.
    id: u64,
    map: Arc<NodeMap>,
    operators: &'static OperatorTable,
    counters: Mutex<Counters>,
    /// What small collectives need that the ranks carry themselves, if they do.
    direct: Option<DirectPart>,
    /// Who carries collectives, if that is to be the faster one.
    choices: Option<Mutex<Choices>>,
}

impl SpanningCommunicator {
    /// Makes the communicator from all members' reservations. Returns `None` if the segment of some node
    /// had no room. The members of `identity` are world ranks.
    pub(crate) fn from_reservations(
        node: &'static Node,
        operators: &'static OperatorTable,
        map: Arc<NodeMap>,
        reservations: &[Reservation],
        identity: Identity,
    ) -> Option<SpanningCommunicator> {
        let me = identity.me;
        let first_rank_of = |node: usize| map.members(node).next().expect("every listed node has a member");
        let block_of = |node: usize| Block::from_id(reservations[first_rank_of(node)].block);
        let blocks: Option<Vec<Block>> = (0..map.nodes.len()).map(block_of).collect();
        let here = map.node_of(me);
        let has_statements = |node: usize| reservations[first_rank_of(node)].statements != 0;
        let all_have_statements = (0..map.nodes.len()).all(has_statements);
        // What was reserved here and cannot be used, since some node has no room, is given back: every member
        // drops its own reference, and the first member drops the agent's.
        let references = if first_rank_of(here) == me { 2 } else { 1 };
        if has_statements(here) && !all_have_statements {
            let reserved = block_of(here).zip(part::geometry(node, &map, here));
            let (owner, geometry) = reserved.expect("statements belong to a block");
            let block = node.allocator().statements(owner, &geometry).expect("they have been reserved");
            (0..references).for_each(|_| node.allocator().drop_reference(block, &geometry));
        }
        if let Some(blocks) = blocks {
            return Some(SpanningCommunicator::new(
                node,
                operators,
                reservations[0].id,
                map,
                blocks[here],
                all_have_statements,
                identity,
            ));
        }
        if let Some(block) = block_of(here) {
            let geometry = Geometry::spanning(map.counts.on(here) + 1);
            (0..references).for_each(|_| node.allocator().drop_reference(block, &geometry));
        }
        None
    }

    fn new(
        node: &'static Node,
        operators: &'static OperatorTable,
        id: u64,
        map: Arc<NodeMap>,
        block: Block,
        has_statements: bool,
        identity: Identity,
    ) -> SpanningCommunicator {
        let (here, local_rank) = (map.node_of(identity.me), map.local_rank_of(identity.me));
        let members: Vec<u32> = map.members(here).map(|rank| identity.members[rank] as u32).collect();
        let shared = Shared::of_members_and_agent(node, block, &members);
        let direct = has_statements.then(|| {
            DirectPart::new(&shared, id, &map, here, local_rank).unwrap_or_else(|| end_without_room(node))
        });
        if let Some(agent) = node.agent().filter(|_| local_rank == 0) {
            let count = |(at, node): (usize, &u32)| (*node, map.counts.on(at) as u32);
            let nodes = map.nodes.iter().enumerate().map(count).collect();
            let (block, members) = (block.id(), members.clone());
            agent.send(&AgentCommand::Attach(NewCommunicator {
                id,
                block,
                members,
                nodes,
                this_node: here as u32,
                has_statements: direct.is_some(),
            }));
        }
        SpanningCommunicator {
            identity,
            service: NodeService::new(shared, local_rank, None),
            id,
            map,
            operators,
            counters: Mutex::new(Counters {
                tallies: Tallies::new(0),
                expected_ns: [0; CollectiveKind::COUNT],
            }),
            choices: node.agent().is_some_and(|agent| agent.tries).then(Mutex::default),
            direct,
        }
    }

    /// The job's name for it.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// What small collectives need that the ranks carry themselves, if they do.
    pub(crate) fn direct(&self) -> Option<&DirectPart> {
        self.direct.as_ref()
    }

    /// Takes what other ranks of this node have read about it before this process had it.
    pub(crate) fn find_left(&self) {
        let link = self.service.part.shared.node.agent().and_then(|agent| agent.direct.as_ref());
        if let (Some(link), Some(direct)) = (link, &self.direct) {
            link.find_left(self.id, |from, frame| direct.accept(from, frame));
        }
    }

    /// What ranks need to carry out a call themselves; `None` if they do not. The same on all ranks.
    pub(crate) fn direct_for(&self, call: &Call) -> Option<(&DirectPart, Description)> {
        let direct = self.direct.as_ref()?;
        Some((direct, direct.describe(call, self.operators)?))
    }

    /// The host name of one of its nodes.
    pub(crate) fn host(&self, node: usize) -> &str {
        let hosts = self.service.part.shared.node.agent().map(|agent| &agent.hosts);
        hosts
            .and_then(|hosts| hosts.get(self.map.nodes[node] as usize))
            .map_or("another node", String::as_str)
    }

    /// Makes the next duplicate. All members must make theirs in the same order.
    pub(crate) fn duplicate(&self, identity: Identity) -> SpanningCommunicator {
        let node = self.service.part.shared.node;
        let number = self.service.next_duplicate();
        // The other nodes may have room. They are not asked, because a duplicate must not wait for any
        // rank.
        let Some(block) = self.service.duplicate_block(self.service.part.ranks - 1, number) else {
            end_without_room(node);
        };
        let id = id_of_duplicate(self.id, number);
        let map = Arc::clone(&self.map);
        SpanningCommunicator::new(node, self.operators, id, map, block, self.direct.is_some(), identity)
    }

    /// Returns the size of the pieces into which the call is cut, in bytes. If the host library must carry
    /// out the call, all members get `None`.
    fn piece_bytes(&self, call: &Call, nonblocking: bool) -> Option<usize> {
        // The agents know operators by number. The program's own operators have no number.
        let element = |combine| self.operators.element_bytes(self.operators.number_of(combine)?);
        // Of blocks of different sizes the largest counts, which all members know.
        // SAFETY: the front end provides the spans of all ranks, until the call is complete.
        let bytes = unsafe { call.common_bytes(self.map.ranks()) };
        cut::piece_bytes(call.kind(), bytes, call.combine.and_then(element), nonblocking, &self.map)
    }

    /// Returns whether evenkeel can carry out this call. All members get the same answer.
    pub(crate) fn accepts(&self, call: &Call, nonblocking: bool) -> bool {
        // What has not been measured is left to the library where the faster one is wanted.
        let is_measured = self.choices.is_none() || (self.direct.is_some() && !nonblocking);
        is_measured && self.piece_bytes(call, nonblocking).is_some()
    }

    /// What the members do in a call that has been accepted, if the faster one is wanted.
    pub(crate) fn next_step(&self, call: &Call) -> Step {
        let Some(choices) = &self.choices else { return Step::Use(Carrier::Evenkeel) };
        if self.direct.is_none() {
            return Step::Use(Carrier::Library);
        }
        let first = if self.direct_for(call).is_some() { Carrier::Evenkeel } else { Carrier::Library };
        let now_ns = self.service.part.shared.node.elapsed_ns();
        lock(choices).next(Class::of(call), first, now_ns)
    }

    /// The members have added up their times: who carries the call.
    pub(crate) fn decide(&self, sums: Times) -> Carrier {
        let choices = self.choices.as_ref().expect("only these have times");
        lock(choices).decide(sums)
    }

    /// Makes the operation of a call that has been accepted. The caller polls it.
    pub(crate) fn operation(&self, call: &Call, nonblocking: bool) -> SpanningOperation {
        let piece_bytes = self.piece_bytes(call, nonblocking).expect("the call has been accepted");
        let operator = call.combine.and_then(|combine| self.operators.number_of(combine)).unwrap_or(0);
        let map = Arc::clone(&self.map);
        SpanningOperation::new(*call, operator, map, self.identity.me, piece_bytes, nonblocking)
    }

    /// Returns whether this rank only contributes to the call, and needs no result.
    pub(crate) fn only_contributes(&self, call: &Call) -> bool {
        call.only_contributes(self.map.ranks(), self.identity.me)
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        lock(&self.counters)
    }

    /// Counts a call that was declined.
    pub(crate) fn count_declined(&self, kind: CollectiveKind, nonblocking: bool) {
        self.counters().tallies.of(kind, nonblocking).host_calls += 1;
    }

    /// The expected duration of the next wait of this kind, in nanoseconds.
    pub(crate) fn expected_ns(&self, kind: CollectiveKind) -> u64 {
        self.counters().expected_ns[kind as usize]
    }

    /// Counts a blocking call that took `ns` nanoseconds, `waited_ns` of them waiting.
    pub(crate) fn count(&self, call: &Call, ns: u64, waited_ns: u64) {
        let kind = call.kind();
        let mut counters = self.counters();
        expectation::include(&mut counters.expected_ns[kind as usize], waited_ns);
        if !self.service.part.shared.node.recording {
            return;
        }
        let tally = counters.tallies.of(kind, false);
        tally.calls += 1;
        tally.bytes += call.bytes as u64;
        tally.wait_ns += waited_ns;
        if is_sampled(tally.calls) {
            tally.sample(ns, waited_ns);
        }
    }

    /// Ends all operations in progress on it, on all nodes.
    pub(crate) fn revoke(&self) {
        self.service.part.revoke();
        let node = self.service.part.shared.node;
        if let Some(agent) = node.agent() {
            agent.direct.iter().for_each(|link| link.wake(&node.segment, Kind::of(self.id).into()));
        }
        self.tell_agent(&AgentCommand::Revoke { id: self.id });
    }

    /// Ends this rank's membership.
    pub(crate) fn release(&self) {
        if let Some(direct) = &self.direct {
            direct.release(self.service.part.shared.node);
        }
        self.service.release();
        self.tell_agent(&AgentCommand::Detach { id: self.id });
    }

    fn tell_agent(&self, command: &AgentCommand) {
        if let Some(agent) = self.service.part.shared.node.agent() {
            agent.send(command);
        }
    }

    pub(super) fn record(&self) -> Option<CommRecord> {
        // Calls are counted here. Of the counters of the local part, only those of barriers and of
        // nonblocking operations are added; the part's other operations belong to calls that are counted
        // here.
        let mut ops = self.service.counters();
        ops.retain(|op| op.calls > 0 && (op.op == CollectiveKind::Barrier.name() || op.op.starts_with('i')));
        ops.extend(self.counters().tallies.records());
        Some(CommRecord { segment_bytes: self.service.segment_bytes(), ..self.identity.record(ops)? })
    }
}

/// A duplicate has no room. The other members are not asked, so the job cannot go on.
#[cold]
fn end_without_room(node: &Node) -> ! {
    node.end(
        "the segment of this node has no room for another communicator. The segments of other nodes may have \
         room, so the job cannot continue. Free communicators that are no longer used, or set \
         EVENKEEL_NODES=library",
    )
}

/// The id of a duplicate, which every member computes for itself. The highest bit keeps it apart from ids
/// that nodes allocate. The rest comes from a random stream of its own, so two duplicates very unlikely get
/// the same id.
fn id_of_duplicate(parent: u64, number: u64) -> u64 {
    Random::stream(parent, number).bits() | 1 << 63
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn duplicates_have_ids_of_their_own() {
        let mut ids = HashSet::new();
        for parent in (1..200u64).flat_map(|n| [n << 32, n << 32 | 7]) {
            for number in 0..50 {
                let child = id_of_duplicate(parent, number);
                assert!(
                    ids.insert(child) && ids.insert(id_of_duplicate(child, number)),
                    "{parent:x}, {number}"
                );
            }
        }
    }
}
