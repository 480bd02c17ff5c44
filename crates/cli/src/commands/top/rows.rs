//! The ranks as rows of a table, in an order that the user chooses.

use crate::jobs::findings::call_words;
use crate::jobs::observation::Standing;
use crate::jobs::watch::{JobView, RankLoad};
use evenkeel_text::table::Column;
use evenkeel_text::units::{duration, rank_ranges};
use std::cmp::Ordering;
use std::time::Duration;

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Rank in MPI_COMM_WORLD
    Rank,
    /// Who waits least first: the others wait for them
    Waiting,
    /// Who computes most first
    Cpu,
    /// Who holds up most ranks first
    HoldsUp,
    /// Who has been where it is for longest first
    Since,
}

impl Order {
    /// As a part of a sentence: `sorted by …`.
    pub fn words(self) -> &'static str {
        match self {
            Order::Rank => "rank",
            Order::Waiting => "waiting",
            Order::Cpu => "cpu",
            Order::HoldsUp => "holds up",
            Order::Since => "since",
        }
    }
}

/// The columns of a row.
pub const COLUMNS: [Column; 9] = [
    Column { group: "", head: "rank", dispensable: 0 },
    Column { group: "", head: "pid", dispensable: 6 },
    Column { group: "", head: "waiting", dispensable: 0 },
    Column { group: "", head: "cpu", dispensable: 3 },
    Column { group: "", head: "process", dispensable: 5 },
    Column { group: "", head: "in", dispensable: 0 },
    Column { group: "", head: "since", dispensable: 1 },
    Column { group: "", head: "waits for", dispensable: 4 },
    Column { group: "", head: "holds up", dispensable: 2 },
];

/// The longest list of ranks in a row.
const LIST_LENGTH: usize = 14;

/// What stands out in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
    /// The rank holds up others, or has exited without MPI_Finalize.
    Culprit,
    /// It waits.
    Waits,
    /// Neither.
    None,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// One for each of [`COLUMNS`].
    pub cells: Vec<String>,
    /// See [`Emphasis`].
    pub emphasis: Emphasis,
}

/// The rows of all ranks.
pub fn rows(view: &JobView, order: Order, is_reversed: bool) -> Vec<Row> {
    let mut ranks: Vec<&RankLoad> = view.ranks.iter().collect();
    // Stable: equal ones stay in rank order, whichever way round.
    ranks.sort_by(|one, other| {
        let ordering = compare(one, other, order);
        if is_reversed { ordering.reverse() } else { ordering }
    });
    ranks.into_iter().map(row).collect()
}

fn compare(one: &RankLoad, other: &RankLoad, order: Order) -> Ordering {
    match order {
        Order::Rank => one.seen.rank.cmp(&other.seen.rank),
        Order::Waiting => {
            one.waiting.unwrap_or(f64::INFINITY).total_cmp(&other.waiting.unwrap_or(f64::INFINITY))
        }
        Order::Cpu => other.cpu.unwrap_or(-1.0).total_cmp(&one.cpu.unwrap_or(-1.0)),
        Order::HoldsUp => other.holds_up.cmp(&one.holds_up),
        Order::Since => since(other).cmp(&since(one)),
    }
}

/// For how long a rank has been where it is; zero if it goes on.
fn since(rank: &RankLoad) -> Duration {
    match &rank.seen.standing {
        Standing::Waiting(call) => match &call.collective {
            Some(wait) => Duration::from_secs_f64(wait.seconds.max(0.0)),
            None => rank.unchanged,
        },
        Standing::Outside => rank.unchanged,
        Standing::Exited { .. } | Standing::GoingOn(_) => Duration::ZERO,
    }
}

fn row(rank: &RankLoad) -> Row {
    let seen = &rank.seen;
    let is_lost = matches!(seen.standing, Standing::Exited { finished: false });
    let emphasis = match seen.waits_in() {
        _ if rank.holds_up > 0 || is_lost => Emphasis::Culprit,
        Some(_) => Emphasis::Waits,
        None => Emphasis::None,
    };
    let percent = |part: Option<f64>| part.map_or("-".into(), |part| format!("{:.0}%", part * 100.0));
    let cells = vec![
        seen.rank.to_string(),
        seen.pid.map_or("-".into(), |pid| pid.to_string()),
        percent(rank.waiting),
        percent(rank.cpu),
        seen.activity.words().replace('`', ""),
        place(rank),
        since_words(rank),
        waits_for(rank),
        if rank.holds_up > 0 { rank.holds_up.to_string() } else { "-".into() },
    ];
    Row { cells, emphasis }
}

fn place(rank: &RankLoad) -> String {
    match &rank.seen.standing {
        Standing::Exited { finished: true } => "finished".into(),
        Standing::Exited { finished: false } => "exited without MPI_Finalize".into(),
        Standing::Waiting(call) => call_words(call),
        Standing::Outside => "outside MPI".into(),
        Standing::GoingOn(call) => match (&rank.mostly_in, call) {
            (Some(name), _) => name.clone(),
            (None, Some(call)) => call.name.clone(),
            (None, None) => "outside MPI".into(),
        },
    }
}

fn since_words(rank: &RankLoad) -> String {
    let exact = |time: Duration| duration(time.as_nanos() as u64);
    match &rank.seen.standing {
        Standing::Exited { .. } => "-".into(),
        Standing::GoingOn(_) => "goes on".into(),
        Standing::Waiting(call) if call.collective.is_some() => exact(since(rank)),
        // The watch does not know when it began.
        _ => format!("> {}", exact(since(rank))),
    }
}

fn waits_for(rank: &RankLoad) -> String {
    let ranks = rank_ranges(&rank.waits_for);
    match (rank.waits_for.len(), rank.one_is_enough) {
        (0, _) => "-".into(),
        (2.., true) => format!("any of {}", rank.waits_for.len()),
        (count, _) if ranks.len() > LIST_LENGTH => format!("{count} ranks"),
        _ => ranks,
    }
}

/// What all ranks do together, in one line.
pub fn summary(view: &JobView) -> String {
    let known: Vec<f64> = view.ranks.iter().filter_map(|rank| rank.waiting).collect();
    let waiting = match known.len() {
        0 => "-".into(),
        ranks => format!("{:.0}%", known.iter().sum::<f64>() / ranks as f64 * 100.0),
    };
    let cores: f64 = view.ranks.iter().filter_map(|rank| rank.cpu).sum();
    format!("{waiting} of the ranks' time in MPI calls; {cores:.1} cores busy")
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::jobs::inspection::Communicator;
    use crate::jobs::observation::RankView;
    use crate::jobs::process::Activity;
    use crate::jobs::rank::{Call, CollectiveWait, Instance, Peer, Tag};
    use evenkeel_text::table::table;

    pub fn rank(number: u32, standing: Standing) -> RankLoad {
        let seen = RankView {
            rank: number,
            host: 0,
            pid: Some(100 + number),
            standing,
            activity: Activity::Sleeping(Some("`futex`".into())),
            traffic: None,
            host_collectives: Vec::new(),
        };
        RankLoad {
            seen,
            waiting: Some(0.25),
            mostly_in: None,
            cpu: Some(0.5),
            unchanged: Duration::from_secs(2),
            waits_for: Vec::new(),
            one_is_enough: false,
            holds_up: 0,
        }
    }

    pub fn allreduce(seconds: f64) -> Standing {
        let instance = Instance { host: 0, block: 1, number: 1 };
        let missing = Some(vec![1]);
        let wait = CollectiveWait { instance, missing, ordinal: None, seconds, spans_nodes: false };
        Standing::Waiting(Call {
            name: "MPI_Allreduce".into(),
            communicator: Some(Communicator { name: "world".into(), members: vec![0, 1, 2] }),
            peer: Peer::None,
            tag: Tag::None,
            collective: Some(wait),
            host_collective: None,
        })
    }

    /// Ranks 0 and 2 wait for rank 1.
    pub fn view() -> JobView {
        let late = RankLoad { holds_up: 2, waiting: Some(0.0), ..rank(1, Standing::Outside) };
        let waits = |number, seconds| RankLoad {
            waits_for: vec![1],
            waiting: Some(0.9),
            ..rank(number, allreduce(seconds))
        };
        JobView { ranks: vec![waits(0, 3.0), late, waits(2, 4.0)], ranks_in_all: 3, findings: Vec::new() }
    }

    fn order(order: Order, is_reversed: bool) -> Vec<String> {
        rows(&view(), order, is_reversed).into_iter().map(|row| row.cells[0].clone()).collect()
    }

    #[test]
    fn who_holds_up_the_others_comes_first_in_most_orders() {
        assert_eq!(order(Order::Rank, false), ["0", "1", "2"]);
        assert_eq!(order(Order::Rank, true), ["2", "1", "0"]);
        assert_eq!(order(Order::Waiting, false), ["1", "0", "2"]);
        assert_eq!(order(Order::HoldsUp, false), ["1", "0", "2"]);
        assert_eq!(order(Order::Since, false), ["2", "0", "1"]);
        assert_eq!(order(Order::Cpu, true), ["0", "1", "2"], "equal ones stay in rank order");
    }

    #[test]
    fn a_row_says_what_a_rank_is_in_and_for_whom_it_waits() {
        let cells: Vec<String> =
            rows(&view(), Order::Rank, false).into_iter().map(|row| row.cells.join("|")).collect();
        assert_eq!(cells[0], "0|100|90%|50%|sleeping in futex|MPI_Allreduce|3.00 s|1|-");
        assert_eq!(cells[1], "1|101|0%|50%|sleeping in futex|outside MPI|> 2.00 s|-|2");
        let one = |rank: RankLoad| row(&rank).cells[5..8].join("|");
        assert_eq!(one(rank(3, Standing::GoingOn(None))), "outside MPI|goes on|-");
        let busy = RankLoad { mostly_in: Some("MPI_Recv".into()), ..rank(3, Standing::GoingOn(None)) };
        assert_eq!(one(busy), "MPI_Recv|goes on|-");
        let many = |one_is_enough| RankLoad {
            waits_for: (0..60).step_by(2).collect(),
            one_is_enough,
            ..rank(3, allreduce(1.0))
        };
        assert_eq!(one(many(false)), "MPI_Allreduce|1.00 s|30 ranks");
        assert_eq!(one(many(true)), "MPI_Allreduce|1.00 s|any of 30");
        let lost = row(&rank(3, Standing::Exited { finished: false }));
        assert_eq!((lost.emphasis, lost.cells[6].as_str()), (Emphasis::Culprit, "-"));
    }

    #[test]
    fn a_row_fits_a_narrow_terminal() {
        let cells: Vec<_> = rows(&view(), Order::Rank, false).into_iter().map(|row| row.cells).collect();
        let lines: Vec<String> = table(&COLUMNS, &cells, 40).lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 40), "{}", lines.join("\n"));
        assert!(lines[0].contains("rank") && lines[0].contains(" in"), "{}", lines[0]);
    }

    #[test]
    fn the_summary_is_of_all_ranks() {
        assert_eq!(summary(&view()), "60% of the ranks' time in MPI calls; 1.5 cores busy");
    }
}
