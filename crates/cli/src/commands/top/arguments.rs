//! The command line of `evenkeel top`.

use super::rows::Order;
use crate::commands::value_parsers::{between, whole};
use std::time::Duration;

/// Show a job as it runs: which ranks wait, for which others, and since when
///
/// One row for each rank of a job that runs under evenkeel on this machine, renewed every second:
///
/// waiting: the part of the time since the last renewal that the rank was in calls of MPI that may wait. It
/// is estimated from some twenty samples a second.
///
/// cpu: processor time of the process over time; 100% is one core.
///
/// process: what the kernel says, for instance "sleeping in futex".
///
/// in, since: the call that the rank is in, and for how long; "goes on": it makes calls in quick succession,
/// most of the time the one that is shown.
///
/// waits for, holds up: the ranks that its call needs, and how many ranks need it.
///
/// Below stand the same sentences as `evenkeel where` says. The job does not notice that it is looked at.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Keys:
  up, down, page up, page down, home, end, j, k    scroll
  r w c h s                                        sort by rank, waiting, cpu, holds up, since;
                                                   the same key again turns the order round
  + -                                              renew less or more often
  space                                            stand still, or go on
  q, Esc, Ctrl-C                                   leave

Examples:
  evenkeel top                                the only job that you run here
  evenkeel ps                                 which jobs there are
  evenkeel top 4711                           by the process id of its launcher or of a rank
  evenkeel top --interval 0.5 --sort holds-up
  evenkeel top --once                         one table, for a log

Exit codes: 0 if the job could be looked at, also when it ends meanwhile; 125 if not.")]
pub struct TopArguments {
    /// The job: process id of its launcher or of one of its ranks [default: the only job]
    #[arg(value_name = "JOB")]
    #[arg(value_parser = whole::<u32>(0..))]
    pub job: Option<u32>,
    /// Seconds from one renewal to the next, from 0.2 to 60
    #[arg(long, short = 'i', value_name = "SECONDS", default_value = "1")]
    #[arg(value_parser = between::<200, 60_000>)]
    pub interval: f64,
    /// What the rows are sorted by
    #[arg(long, short = 's', value_name = "COLUMN", default_value = "rank")]
    pub sort: Order,
    /// Print one table after one interval, and leave; so it is without a terminal
    #[arg(long)]
    pub once: bool,
}

/// The shortest and the longest interval.
pub const INTERVALS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(200)..=Duration::from_secs(60);
