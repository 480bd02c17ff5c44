//! The cluster of the arguments.

use crate::commands::value_parsers::{between, whole};
use clap::ValueEnum;
use evenkeel_cluster_sim::Cluster;
use evenkeel_gang::{Packing, QueuePolicy, Thresholds};
use evenkeel_schedule_sim::VirtualTime;

/// The queue of policies that share time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum QueueName {
    /// First come, first served
    Fcfs,
    /// Later jobs may start first if the first one is not delayed
    Easy,
}

/// On which cores a job goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PackingName {
    /// Aligned blocks of powers of two
    Buddy,
    /// The first free cores
    FirstFit,
}

/// Arguments of every subcommand.
#[derive(Debug, clap::Args)]
pub struct SwitchingArguments {
    /// The quantum: how long a slot is on [50ms; scenario: 25ms]
    #[arg(long, value_name = "TIME", help_heading = "Scheduler")]
    pub quantum: Option<VirtualTime>,
    /// What a switch between two ranks costs
    ///
    /// Ranks count as coarse (class DC) that compute longer between two blocking calls than 225 switches
    /// take.
    #[arg(long, value_name = "TIME", default_value = "20us", help_heading = "Scheduler")]
    pub switch: VirtualTime,
    /// Ranks that compute longer between two blocking calls are coarse (class DC) [225 switches]
    #[arg(long, value_name = "TIME", help_heading = "Scheduler")]
    pub coarse: Option<VirtualTime>,
    /// Waiting pays up to this share of the computing between two blocking calls (class CS)
    #[arg(long, value_name = "SHARE", default_value = "0.25", value_parser = between::<0, 100_000>)]
    #[arg(help_heading = "Scheduler")]
    pub wait_share: f64,
    /// What a message takes
    #[arg(long, value_name = "TIME", default_value = "5us", help_heading = "Scheduler")]
    pub latency: VirtualTime,
}

impl SwitchingArguments {
    /// A cluster with these parameters.
    pub fn cluster(&self, cluster: Cluster) -> Cluster {
        let switch_ns = whole_ns(self.switch);
        let defaults = Thresholds::for_switch_cost_ns(switch_ns);
        let coarse_ns = self.coarse.map_or(defaults.coarse_ns, whole_ns);
        Cluster {
            quantum_ns: self.quantum.map_or(cluster.quantum_ns, whole_ns),
            switch_ns,
            spin_ns: 2 * switch_ns,
            latency_ns: whole_ns(self.latency),
            thresholds: Thresholds { coarse_ns, wait_share: self.wait_share, ..defaults },
            ..cluster
        }
    }
}

/// Arguments of subcommands that let jobs arrive.
#[derive(Debug, clap::Args)]
pub struct MachineArguments {
    /// Cores of the cluster
    #[arg(long, value_name = "N", default_value = "32", help_heading = "Scheduler")]
    #[arg(value_parser = whole::<usize>(1..=1_000_000))]
    pub cores: usize,
    /// Jobs that may share a core, with policies that share time
    #[arg(long, value_name = "N", default_value = "6", help_heading = "Scheduler")]
    #[arg(value_parser = whole::<usize>(1..=64))]
    pub slots: usize,
    /// How jobs wait, with policies that share time
    #[arg(long, value_enum, default_value = "easy", help_heading = "Scheduler")]
    pub queue: QueueName,
    /// On which cores a job goes
    #[arg(long, value_enum, default_value = "buddy", help_heading = "Scheduler")]
    pub packing: PackingName,
    #[command(flatten)]
    pub switching: SwitchingArguments,
}

impl MachineArguments {
    /// The cluster.
    pub fn cluster(&self) -> Cluster {
        let queue = match self.queue {
            QueueName::Fcfs => QueuePolicy::Fcfs,
            QueueName::Easy => QueuePolicy::Easy,
        };
        let packing = match self.packing {
            PackingName::Buddy => Packing::Buddy,
            PackingName::FirstFit => Packing::FirstFit,
        };
        let cluster = Cluster { slots: self.slots, queue, packing, ..Cluster::with_cores(self.cores) };
        self.switching.cluster(cluster)
    }
}

fn whole_ns(time: VirtualTime) -> u64 {
    time.ns().round() as u64
}
