//! The command line of `evenkeel metrics`.

use crate::commands::value_parsers::{between, whole};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Serve numbers about your jobs to Prometheus or OpenTelemetry
///
/// Watches the jobs of this user that run under evenkeel on this machine, also those that start later, and
/// serves for each job and rank: time in MPI calls, processor time, calls, messages, requests, the state of
/// the process, how many ranks it holds up, and whether a deadlock is proved. The jobs do not notice.
///
/// Without --file it serves them by HTTP at /metrics, as OpenMetrics to those who accept that and as
/// Prometheus' text format to all others. Nothing is encrypted, and all who reach the address can read it: by
/// default those on this machine only.
///
/// With --file it writes a file in Prometheus' text format again and again, each time whole or not at all, as
/// the textfile collector of node_exporter wants it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel metrics &                          then: curl http://127.0.0.1:9464/metrics
  evenkeel metrics --listen 127.0.0.1:9999
  evenkeel metrics --file /var/lib/prometheus/node-exporter/evenkeel.prom
  evenkeel metrics --once                     print them, and leave")]
pub struct MetricsArguments {
    /// A job: process id of its launcher or of one of its ranks; leaves when it ends [default: all jobs]
    #[arg(value_name = "JOB")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub job: Option<u32>,
    /// Serve by HTTP at this address and port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9464")]
    pub listen: SocketAddr,
    /// Write to this file instead
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    pub file: Option<PathBuf>,
    /// Seconds from one writing of the file to the next
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = between::<200, 3_600_000>)]
    pub interval: f64,
    /// Print them once, after a second of looking, and leave
    #[arg(long, conflicts_with_all = ["listen", "file"])]
    pub once: bool,
}
