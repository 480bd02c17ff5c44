//! Which processes of the job are alive, and what happens when a rank waits for one that has died.

use super::cores;
use super::node::Node;
use crate::clock;
use crate::record::notes;
use evenkeel_options as options;
use evenkeel_segment::node_status::NodeLoss;
use evenkeel_segment::process;
use std::sync::atomic::Ordering;

/// Exit status of a rank that ends because another one has died.
pub const EXIT_PEER_DIED: i32 = 71;

/// For more processes than this, asking the kernel takes longer than it is worth.
const FEW_PROCESSES: usize = 8;

impl Node {
    /// Announces that this process has finished and takes no further part.
    pub fn leave(&self) {
        self.status().set_left(self.local_rank);
    }

    /// Returns whether a local rank has called [`Node::leave`].
    pub fn has_left(&self, local_rank: usize) -> bool {
        self.status().has_left(local_rank)
    }

    /// Returns whether one of the other processes with these local ranks is running or ready to run.
    /// Returns true if that cannot be found out cheaply. If one of them needs the core of this process, which
    /// is foreign to it, this process leaves the core.
    pub fn any_is_running(&self, local_ranks: &[usize]) -> bool {
        let others = || local_ranks.iter().filter(|&&rank| rank != self.local_rank);
        // For a process with threads the kernel reports only the first one, which may not be the one in
        // MPI.
        if self.threaded || others().count() > FEW_PROCESSES {
            return true;
        }
        let runnable = || {
            let scheduled = others().map(|&rank| process::scheduling(self.neighbour(rank).pid));
            scheduled.filter(|process| process.is_runnable)
        };
        let Some(share) = &self.share else { return runnable().next().is_some() };
        let (here, mut any) = (cores::current_core(), false);
        for process in runnable() {
            any = true;
            if let Some(core) = process.core.filter(|_| process.core == here) {
                share.return_from(core, clock::monotonic_ns());
            }
        }
        any
    }

    /// Returns whether one of the other ranks of this node has been stopped, by a signal or a debugger.
    pub(crate) fn any_is_stopped(&self) -> bool {
        self.neighbours.iter().any(|neighbour| process::scheduling(neighbour.pid).is_stopped)
    }

    /// Notes that the program sets affinities: they stay as they are from now on.
    pub fn leave_affinity_alone(&self) {
        if let Some(share) = &self.share {
            share.leave_alone();
        }
    }

    /// Leaves a foreign core on which another rank of this node is ready to run.
    pub fn leave_shared_core(&self) {
        if self.share.is_some() {
            self.any_is_running(&(0..self.neighbours.len()).collect::<Vec<_>>());
        }
    }

    /// Returns whether a rank of this node has died before it left the job. False for ranks of other nodes.
    pub fn has_died(&self, world_rank: usize) -> bool {
        self.local_rank_of(world_rank).is_some_and(|rank| self.any_has_died(&[rank]))
    }

    /// Returns whether one of the other processes with these local ranks has died before it left the job.
    pub(crate) fn any_has_died(&self, local_ranks: &[usize]) -> bool {
        let has_died = |rank: usize| {
            // In this order: a process says that it ends before it does.
            self.neighbour(rank).is_dead() && !self.has_left(rank) && !self.status().was_ended(rank)
        };
        local_ranks.iter().any(|&rank| rank != self.local_rank && has_died(rank))
    }

    /// Returns whether this node's agent says which rank died. Agents ask each other first: a launcher kills
    /// ranks of all nodes when one has died, and those are not to be named.
    ///
    /// An agent waits for the others as long as nodes may be silent. One that has given no answer for twice
    /// as long is not waited for any more.
    fn is_left_to_the_agent(&self) -> bool {
        let Some(link) = self.agent() else { return false };
        let now = clock::monotonic_ns().max(1);
        let first = self.death_seen_ns.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        let since = first.map_or_else(|earlier| earlier, |_| now);
        let patience_ms = options::death_patience_ms();
        !link.agent.is_dead() && now.saturating_sub(since) < patience_ms.saturating_mul(2_000_000)
    }

    /// Ends this process with an error message if one of the processes with these local ranks has died, or
    /// a node is lost. `operation` names the call in which this rank waits, without the prefix `MPI_`.
    pub fn check_alive(&self, local_ranks: impl Iterator<Item = usize>, operation: &str) {
        self.check_nodes(operation);
        for local_rank in local_ranks {
            if local_rank != self.local_rank && self.status().was_ended(local_rank) {
                self.end_quietly(); // it, or the rank for which it ended, has said why
            }
            if !self.any_has_died(&[local_rank]) {
                continue;
            }
            if local_rank != self.neighbours.len() && self.is_left_to_the_agent() {
                continue;
            }
            let neighbour = self.neighbour(local_rank);
            let (rank, pid, me) = (neighbour.world_rank, neighbour.pid, self.me);
            if local_rank == self.neighbours.len() {
                self.end(&format!(
                    "this node's agent (process {pid}) has died while rank {me} waits in \
                     MPI_{operation} for other nodes; ending this job. Check whether a user or the \
                     kernel's out-of-memory killer has killed it; EVENKEEL_NODES=library works without \
                     agents"
                ));
            }
            self.end(&death(rank, pid, me, operation));
        }
    }

    /// Ends this process with an error message if the agents have reported a dead rank or a lost node.
    fn check_nodes(&self, operation: &str) {
        let Some(link) = self.agent() else { return };
        let host = |node: usize| link.hosts.get(node).map_or("?", String::as_str);
        let me = self.me;
        if let Some(rank) = self.status().dead_rank() {
            let on = link.node_of.get(rank as usize).map_or("?", |node| host(*node as usize));
            self.end(&format!(
                "rank {rank} on {on} has died while rank {me} waits in MPI_{operation}; ending this \
                 job. Check the last output of rank {rank} and its exit status"
            ));
        }
        let Some(lost) = self.status().lost_node() else { return };
        let on_node = link.node_of.iter().enumerate().filter(|&(_, node)| *node == lost.node);
        let ranks: Vec<String> = on_node.map(|(rank, _)| rank.to_string()).collect();
        let host = host(lost.node as usize);
        let (what, raise) = if lost.loss == NodeLoss::Unreachable {
            ("cannot be reached any more".to_string(), "")
        } else {
            let patience = options::node_patience_ms();
            (format!("has not been heard of for {patience} ms"), ", or raise EVENKEEL_NODE_PATIENCE_MS")
        };
        self.end(&format!(
            "node {host} (rank{} {}) {what} while rank {me} waits in MPI_{operation}; ending this job. \
             Check whether {host} is up and its network works{raise}",
            if ranks.len() == 1 { "" } else { "s" },
            ranks.join(", "),
        ));
    }

    /// Prints an error message and ends this process. Only the first of the node's ranks that calls this
    /// prints.
    pub fn end(&self, sentence: &str) -> ! {
        if self.status().claim_end_announcement() {
            notes::print(sentence);
            if let Some(hook) = self.end_hook.get() {
                hook();
            }
        }
        self.end_quietly()
    }

    /// Ends this process. What it does because of another loss is not taken for a death.
    fn end_quietly(&self) -> ! {
        self.status().set_ended(self.local_rank);
        exit()
    }
}

fn death(rank: usize, pid: u32, me: usize, operation: &str) -> String {
    format!(
        "rank {rank} (process {pid}) has died while rank {me} waits in MPI_{operation}; ending this job. \
         Check the last output of rank {rank} and its exit status"
    )
}

/// Says that a rank has died, for processes that do not know their node yet.
pub(super) fn announce_death(rank: usize, pid: u32, me: usize, operation: &str) {
    notes::print(&death(rank, pid, me, operation));
}

/// Flushes the program's output, then ends without running handlers that might wait for other ranks.
pub(super) fn exit() -> ! {
    // SAFETY: no memory is passed.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::_exit(EXIT_PEER_DIED)
    }
}
