//! The life of a communicator: this process reserves blocks for it, attaches to it, duplicates it, revokes it
//! and detaches from it.
//!
//! May use: all of the engine but [`crate::dispatch`]. Must never: carry out a call on a communicator.

use crate::barrier::completion::complete;
use crate::barrier::scheduled::ScheduledBarrier;
use crate::blocking::awaited::Awaited;
use crate::comm::part::NodePart;
use crate::comm::shared::Shared;
use crate::communicator::Communicator;
use crate::communicator::host::{HostCommunicator, HostReason};
use crate::communicator::identity::Identity;
use crate::communicator::node::NodeCommunicator;
use crate::communicator::spanning::SpanningCommunicator;
use crate::deferral::observer::Observer;
use crate::deferral::pending::any_pending;
use crate::process::Process;
use crate::spanning::reservation::{Reservation, node_map};
use evenkeel_segment::Geometry;
use evenkeel_segment::block::Block;
use std::sync::Arc;

impl Process {
    /// Reserves a block for a new communicator of these members and returns its id. One member calls this
    /// and sends the id to the others. Returns 0 if the host library must serve the communicator.
    pub fn allocate_id(&self, members: &[i32]) -> u64 {
        let Some(node) =
            self.node().filter(|node| members.len() > 1 && node.local_ranks_of(members).is_some())
        else {
            return 0;
        };
        node.allocator().allocate(&Geometry::new(members.len())).map_or(0, Block::id)
    }

    /// Attaches this process, as rank `me`, to the communicator `id` of these members (world ranks).
    /// Barriers run as the job's barrier table says.
    pub fn attach(&'static self, id: u64, members: &[i32], me: usize) -> Arc<Communicator> {
        self.attach_with(id, members, me, self.scheduled_barrier(members.len()))
    }

    /// Like [`Process::attach`], but with barriers run by `schedule`, or by the built-in algorithm if it is
    /// `None`. All members must pass the same schedule.
    pub fn attach_with(
        &'static self,
        id: u64,
        members: &[i32],
        me: usize,
        schedule: Option<ScheduledBarrier>,
    ) -> Arc<Communicator> {
        let node = self.node();
        let local_ranks = node.and_then(|node| node.local_ranks_of(members));
        let communicator = match (node, Block::from_id(id), local_ranks) {
            (Some(node), Some(block), Some(local_ranks)) => {
                let shared = Shared::on_node(node, block, block, local_ranks);
                Communicator::Node(NodeCommunicator::new(Identity::new(id, members, me), shared, schedule))
            }
            _ => self.host_communicator(id, members, me),
        };
        self.register(communicator)
    }

    /// Returns the schedule that the job's table names for barriers of this many ranks; `None` means the
    /// built-in algorithm.
    fn scheduled_barrier(&self, ranks: usize) -> Option<ScheduledBarrier> {
        let schedule = self.node()?.barrier_schedule(ranks)?;
        let name = schedule.name();
        match ScheduledBarrier::new(schedule) {
            Ok(scheduled) => Some(scheduled),
            Err(error) => {
                self.notes.add(&format!(
                    "the table's schedule {name} for {ranks} ranks cannot be run: {error}; the built-in \
                     barrier is used"
                ));
                None
            }
        }
    }

    fn host_communicator(&self, id: u64, members: &[i32], me: usize) -> Communicator {
        let reason = match self.node() {
            None => HostReason::NotActive,
            Some(_) if members.len() < 2 => HostReason::OneMember,
            Some(node) if members.iter().any(|&m| m < 0 || m as usize >= node.ranks) => {
                HostReason::OtherWorld
            }
            Some(node) if node.local_ranks_of(members).is_none() => HostReason::SeveralNodes,
            Some(_) => HostReason::NoRoom,
        };
        Communicator::Host(HostCommunicator::new(Identity::new(id, members, me), reason))
    }

    fn register(&self, communicator: Communicator) -> Arc<Communicator> {
        let communicator = Arc::new(communicator);
        self.registry.add(communicator.clone());
        if let Communicator::Spanning(spanning) = &*communicator {
            spanning.find_left(); // from now on what comes for it is accepted
        }
        communicator
    }

    /// Returns whether the agents serve a communicator of these members.
    pub fn spans_nodes(&self, members: &[i32]) -> bool {
        self.node().and_then(|node| node_map(node, members)).is_some()
    }

    /// Reserves this process's share of a new communicator for which [`Process::spans_nodes`] returned
    /// true.
    pub fn reserve(&self, members: &[i32], me: usize) -> Reservation {
        let map = self.node().and_then(|node| Some((node, node_map(node, members)?)));
        map.map_or_else(Reservation::default, |(node, map)| Reservation::make(node, &map, me))
    }

    /// Attaches this process to a communicator that spans nodes, given all members' reservations. The host
    /// library serves the communicator if the segment of some node has no room for it.
    pub fn attach_spanning(
        &'static self,
        reservations: &[Reservation],
        members: &[i32],
        me: usize,
    ) -> Arc<Communicator> {
        let identity = || Identity::new(0, members, me);
        let spanning = self.node().and_then(|node| {
            let map = node_map(node, members)?;
            SpanningCommunicator::from_reservations(node, &self.operators, map, reservations, identity())
        });
        self.register(match spanning {
            Some(spanning) => Communicator::Spanning(spanning),
            None => Communicator::Host(HostCommunicator::new(identity(), HostReason::NoRoomOnSomeNode)),
        })
    }

    /// Attaches this process to the next duplicate of a communicator. All members must make their
    /// duplicates in the same order. Does not wait for any rank.
    pub fn duplicate(&'static self, parent: &Communicator, members: &[i32], me: usize) -> Arc<Communicator> {
        self.duplicate_with(parent, members, me, self.scheduled_barrier(members.len()))
    }

    /// Like [`Process::duplicate`], but with barriers run by `schedule`, or by the built-in algorithm if it
    /// is `None`. All members must pass the same schedule.
    pub fn duplicate_with(
        &'static self,
        parent: &Communicator,
        members: &[i32],
        me: usize,
        schedule: Option<ScheduledBarrier>,
    ) -> Arc<Communicator> {
        match parent {
            Communicator::Host(_) => self.attach_with(0, members, me, None),
            Communicator::Node(node) => {
                let number = node.service.next_duplicate();
                let block = node.service.duplicate_block(node.service.part.ranks, number);
                self.attach_with(block.map_or(0, Block::id), members, me, schedule)
            }
            Communicator::Spanning(spanning) => {
                self.register(Communicator::Spanning(spanning.duplicate(Identity::new(0, members, me))))
            }
        }
    }

    /// Detaches this rank from a communicator. Pending barriers are completed first.
    pub fn detach(&self, communicator: Arc<Communicator>) {
        if any_pending() {
            complete(self, Observer::COLLECTIVE);
        }
        self.registry.remove(&communicator);
        match &*communicator {
            Communicator::Host(_) => {}
            Communicator::Node(node) => {
                self.wait_for_readers(&node.service.part);
                self.messages.forget(node.service.part.id());
                node.service.release();
            }
            Communicator::Spanning(spanning) => spanning.release(),
        }
    }

    /// Waits until the readers of all that this rank has deposited beyond the window have read it.
    fn wait_for_readers(&self, part: &NodePart) {
        let board = &part.shared.board;
        let is_done = || part.with(|state| !state.backlog.is_waiting(board));
        if !is_done() {
            // If the communicator has been revoked, no rank reads it.
            let _ = self.wait(part, &Awaited::END_OF_COMMUNICATOR, u64::MAX, is_done);
        }
        part.with(|state| state.backlog.release(&part.shared));
    }

    /// Ends all operations in progress on a communicator, for all members: they get [`Revoked`], and later
    /// calls are declined.
    pub fn revoke(&self, communicator: &Communicator) {
        match communicator {
            Communicator::Host(_) => {}
            Communicator::Node(node) => node.service.part.revoke(),
            Communicator::Spanning(spanning) => spanning.revoke(),
        }
    }
}
