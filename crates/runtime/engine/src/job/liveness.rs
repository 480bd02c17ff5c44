//! What a rank's world knows of other nodes.

use super::agent_commands::AgentCommand;
use super::agent_link::Job;
use crate::job::node::World;
use evenkeel_segment::node_status::{LostNode, NodeLoss};

impl World {
    /// The nodes of the job; None: there is one, or there are no agents.
    pub fn job(&self) -> Option<&Job> {
        self.job.get()
    }

    /// Tells this node's agent something, if there is one.
    pub(crate) fn tell_agent(&self, command: &AgentCommand) {
        if let Some(job) = self.job() {
            job.tell(command);
        }
    }

    /// Wakes this node's agent, if there is one.
    #[cold]
    pub(crate) fn wake_agent(&self) {
        if let Some(job) = self.job() {
            job.wake_agent();
        }
    }

    /// Whether the agent may need a core that a rank here occupies.
    pub(crate) fn is_agent_short_of_cores(&self) -> bool {
        self.waiting.ranks + 1 > self.waiting.cores || self.job().is_some_and(|job| job.share_cores)
    }

    /// A name for a new communicator that no other one has in this job.
    pub(crate) fn name_communicator(&self) -> u64 {
        self.job().map_or(1 << 32 | self.me as u64, |job| job.name_communicator(self.me))
    }

    /// Ends this process with a sentence if the agent has found a rank dead or a node lost. `collective`:
    /// what this rank waits in, by MPI's name without prefix.
    pub(crate) fn check_nodes(&self, collective: &str) {
        let Some(job) = self.job() else { return };
        if let Some(rank) = self.status().dead_rank() {
            let host = job.node_of.get(rank as usize).map_or("?", |node| job.host(*node as usize));
            self.end(&format!(
                "rank {rank} on {host} has died while rank {} waits in MPI_{collective}; ending this \
                 job. Look for what rank {rank} wrote last, or at its exit status",
                self.me
            ));
        }
        if let Some(lost) = self.status().lost_node() {
            self.end(&self.lost_node_sentence(job, lost, collective));
        }
    }

    fn lost_node_sentence(&self, job: &Job, lost: LostNode, collective: &str) -> String {
        let node = lost.node as usize;
        let (host, ranks) = (job.host(node), job.ranks_on(node).map(|rank| rank.to_string()));
        let ranks: Vec<String> = ranks.collect();
        let (what, raise) = match lost.loss {
            NodeLoss::Unreachable => ("cannot be reached any more".to_string(), ""),
            NodeLoss::Silent => (
                format!("has not been heard of for {} ms", evenkeel_options::NODE_PATIENCE_MS.get()),
                ", or raise EVENKEEL_NODE_PATIENCE_MS",
            ),
        };
        let plural = if ranks.len() == 1 { "" } else { "s" };
        format!(
            "node {host} (rank{plural} {}) {what} while rank {} waits in MPI_{collective}; ending this \
             job. Look whether {host} is up and its network works{raise}",
            ranks.join(", "),
            self.me
        )
    }
}
