//! What is known of jobs as metrics, in the formats of OpenMetrics and Prometheus.

use crate::jobs::process::Activity;
use evenkeel_text::units::plain;
use prometheus_client::encoding::{EncodeLabelSet, prometheus_text, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use std::sync::atomic::AtomicU64;

/// The longest command line that is a label.
const PROGRAM_LENGTH: usize = 120;

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobMetrics {
    /// Its number, as `evenkeel ps` shows it.
    pub id: u32,
    /// The MPI library.
    pub library: String,
    /// The command line of its ranks.
    pub program: String,
    /// How many ranks it has, on all machines.
    pub ranks_in_all: usize,
    /// A deadlock is proved.
    pub is_deadlocked: bool,
    /// The ranks on this machine.
    pub ranks: Vec<RankMetrics>,
}

/// A rank.
#[derive(Clone, Debug, PartialEq)]
pub struct RankMetrics {
    /// Its rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Time in MPI calls since the watch began.
    pub mpi_seconds: f64,
    /// Processor time; None if its process has ended.
    pub cpu_seconds: Option<f64>,
    /// Calls of the MPI library's, and waits in calls of evenkeel's.
    pub calls: u64,
    /// Messages that it has begun to send through the MPI library.
    pub messages_sent: u64,
    /// Messages that it has received through it, and nonblocking receives that it has started.
    pub messages_received: u64,
    /// Nonblocking sends and receives that are not complete.
    pub pending_requests: u64,
    /// It is in an MPI call.
    pub is_in_mpi: bool,
    /// One of [`Activity::WORDS`].
    pub state: &'static str,
    /// How many ranks wait for it.
    pub holds_up: usize,
}

/// A format in which metrics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus' text format 0.0.4.
    Prometheus,
}

impl Format {
    /// For the header of a response.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfJob {
    job: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AboutJob {
    job: u32,
    library: String,
    program: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRank {
    job: u32,
    rank: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateOfRank {
    job: u32,
    rank: u32,
    state: &'static str,
}

type Seconds = Counter<f64, AtomicU64>;

/// Writes the metrics of all jobs.
pub fn written(jobs: &[JobMetrics], format: Format) -> String {
    let mut registry = Registry::with_prefix("evenkeel");
    about_jobs(&mut registry, jobs);
    about_ranks(&mut registry, jobs);
    states(&mut registry, jobs);
    let mut text = String::new();
    match format {
        Format::OpenMetrics => text::encode(&mut text, &registry),
        Format::Prometheus => prometheus_text::encode(&mut text, &registry),
    }
    .expect("writing to a string does not fail");
    text
}

fn about_jobs(registry: &mut Registry, jobs: &[JobMetrics]) {
    let info = Family::<AboutJob, Gauge>::default();
    let (ranks, deadlock) = (Family::<OfJob, Gauge>::default(), Family::<OfJob, Gauge>::default());
    for job in jobs {
        let program = plain(&job.program, PROGRAM_LENGTH);
        let about = AboutJob { job: job.id, library: job.library.clone(), program };
        info.get_or_create(&about).set(1);
        ranks.get_or_create(&OfJob { job: job.id }).set(job.ranks_in_all as i64);
        deadlock.get_or_create(&OfJob { job: job.id }).set(i64::from(job.is_deadlocked));
    }
    registry.register("job_info", "A job that runs under evenkeel on this machine; always 1", info);
    registry.register("job_ranks", "Ranks of the job, on all machines", ranks);
    registry.register("job_deadlock", "1 if it is proved that ranks of the job wait for ever", deadlock);
}

fn about_ranks(registry: &mut Registry, jobs: &[JobMetrics]) {
    let all = || {
        jobs.iter()
            .flat_map(|job| job.ranks.iter().map(|rank| (OfRank { job: job.id, rank: rank.rank }, rank)))
    };
    let mut seconds = |name: &str, help: &str, value: fn(&RankMetrics) -> Option<f64>| {
        let family = Family::<OfRank, Seconds>::default();
        for (labels, rank) in all() {
            if let Some(value) = value(rank) {
                family.get_or_create(&labels).inc_by(value);
            }
        }
        registry.register_with_unit(name, help, Unit::Seconds, family);
    };
    seconds(
        "rank_mpi",
        "Time in MPI calls that may wait, since the exporter first saw the job; estimated from samples",
        |rank| Some(rank.mpi_seconds),
    );
    seconds("rank_cpu", "Processor time of the rank's process", |rank| rank.cpu_seconds);
    let mut counter = |name: &str, help: &str, value: fn(&RankMetrics) -> u64| {
        let family = Family::<OfRank, Counter>::default();
        all().for_each(|(labels, rank)| {
            family.get_or_create(&labels).inc_by(value(rank));
        });
        registry.register(name, help, family);
    };
    counter(
        "rank_calls",
        "MPI calls that the MPI library carried out, and calls in which the rank waited for evenkeel",
        |rank| rank.calls,
    );
    counter(
        "rank_messages_sent",
        "Point-to-point messages that the rank has begun to send through the MPI library",
        |rank| rank.messages_sent,
    );
    counter(
        "rank_messages_received",
        "Point-to-point messages received through the MPI library, and nonblocking receives started",
        |rank| rank.messages_received,
    );
    let mut gauge = |name: &str, help: &str, value: fn(&RankMetrics) -> i64| {
        let family = Family::<OfRank, Gauge>::default();
        all().for_each(|(labels, rank)| {
            family.get_or_create(&labels).set(value(rank));
        });
        registry.register(name, help, family);
    };
    gauge(
        "rank_pending_requests",
        "Nonblocking sends and receives of the MPI library's that are not complete",
        |rank| rank.pending_requests as i64,
    );
    gauge("rank_in_mpi", "1 if the rank is in an MPI call that may wait", |rank| i64::from(rank.is_in_mpi));
    gauge("rank_holds_up", "How many ranks wait for this one", |rank| rank.holds_up as i64);
}

fn states(registry: &mut Registry, jobs: &[JobMetrics]) {
    let family = Family::<StateOfRank, Gauge>::default();
    for job in jobs {
        for rank in &job.ranks {
            for state in Activity::WORDS {
                let labels = StateOfRank { job: job.id, rank: rank.rank, state };
                family.get_or_create(&labels).set(i64::from(rank.state == state));
            }
        }
    }
    registry.register(
        "rank_process_state",
        "1 for the state of the rank's process, 0 for the others",
        family,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> JobMetrics {
        let rank = |rank| RankMetrics {
            rank,
            mpi_seconds: 1.5,
            cpu_seconds: (rank == 0).then_some(2.25),
            calls: 40,
            messages_sent: 7,
            messages_received: 6,
            pending_requests: 1,
            is_in_mpi: rank == 1,
            state: "sleeping",
            holds_up: rank as usize,
        };
        JobMetrics {
            id: 17,
            library: "MPICH 4.0".into(),
            program: "./a \"b\"\\\n".into(),
            ranks_in_all: 2,
            is_deadlocked: false,
            ranks: vec![rank(0), rank(1)],
        }
    }

    #[test]
    fn both_formats_have_the_same_samples() {
        let samples = |format| {
            let text = written(&[job()], format);
            let mut lines: Vec<String> =
                text.lines().filter(|line| !line.starts_with('#')).map(str::to_string).collect();
            lines.sort_unstable();
            lines
        };
        let found = samples(Format::OpenMetrics);
        assert_eq!(found, samples(Format::Prometheus));
        for expected in [
            "evenkeel_job_ranks{job=\"17\"} 2",
            "evenkeel_rank_mpi_seconds_total{job=\"17\",rank=\"1\"} 1.5",
            "evenkeel_rank_cpu_seconds_total{job=\"17\",rank=\"0\"} 2.25",
            "evenkeel_rank_calls_total{job=\"17\",rank=\"0\"} 40",
            "evenkeel_rank_holds_up{job=\"17\",rank=\"1\"} 1",
            "evenkeel_rank_process_state{job=\"17\",rank=\"1\",state=\"sleeping\"} 1",
            "evenkeel_rank_process_state{job=\"17\",rank=\"1\",state=\"running\"} 0",
        ] {
            assert!(found.iter().any(|line| line == expected), "{expected}: {found:#?}");
        }
        assert!(
            !found
                .iter()
                .any(|line| line.starts_with("evenkeel_rank_cpu_seconds_total{job=\"17\",rank=\"1\""))
        );
    }

    #[test]
    fn no_job_is_no_sample() {
        assert!(written(&[], Format::OpenMetrics).ends_with("# EOF\n"));
        assert!(written(&[], Format::Prometheus).lines().all(|line| line.starts_with('#')));
    }
}
