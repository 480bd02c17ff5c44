//! Call stacks of the ranks that hold up others.
//!
//! The only module here that stops ranks: each for as long as its stack is copied.

use super::findings::{Finding, FindingKind};
use super::observation::{Observation, RankView, Standing};
use evenkeel_stacks::{Frame, Language, Observer, ProcessStacks, StackError};
use serde::{Deserialize, Serialize};

/// The most ranks that are looked at.
const MOST_RANKS: usize = 64;

/// Which ranks are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum StackChoice {
    /// Those that hold up others; if there are none, all
    Holding,
    /// All that can be reached
    All,
}

/// Why these ranks were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// They hold up others.
    Holding,
    /// They wait for ranks whose processes have ended.
    WaitingForEnded,
    /// No rank is known to hold up others.
    NoneHolds,
    /// The user asked for all.
    Asked,
}

/// The stacks of one rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankStack {
    /// Its rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// The machine that it is on, if several were looked at.
    pub host: Option<String>,
    /// Its process there.
    pub pid: u32,
    /// What was seen.
    pub stacks: Result<ProcessStacks, StackError>,
}

/// The stacks that were taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenStacks {
    /// Why of these ranks.
    pub reason: Reason,
    /// In rank order.
    pub ranks: Vec<RankStack>,
    /// So many more ranks were not looked at.
    pub left_out: usize,
}

/// Takes the stacks of the ranks that are chosen. `look` takes those of ranks on the machine with this place
/// among the hosts.
pub fn take(
    seen: &Observation,
    found: &[Finding],
    choice: StackChoice,
    mut look: impl FnMut(usize, &[&RankView]) -> Vec<RankStack>,
) -> TakenStacks {
    let (reason, views) = chosen(seen, found, choice);
    let left_out = views.len().saturating_sub(MOST_RANKS);
    let looked_at = &views[..views.len() - left_out];
    let mut ranks: Vec<RankStack> = Vec::new();
    for (host, name) in seen.hosts.iter().enumerate() {
        let there: Vec<&RankView> = looked_at.iter().filter(|view| view.host == host).copied().collect();
        let mut stacks = if there.is_empty() { Vec::new() } else { look(host, &there) };
        if seen.hosts.len() > 1 {
            stacks.iter_mut().for_each(|stack| stack.host = Some(name.clone()));
        }
        ranks.extend(stacks);
    }
    ranks.sort_by_key(|stack| stack.rank);
    TakenStacks { reason, left_out, ranks }
}

/// The stacks of ranks on this machine.
pub fn of_ranks<'a>(views: impl Iterator<Item = &'a RankView>) -> Vec<RankStack> {
    let mut observer = Observer::default();
    let mut ranks: Vec<RankStack> = Vec::new();
    for view in views {
        let Some(pid) = view.pid else { continue };
        let stacks = observer.look(pid).map(without_library);
        // The kernel says the same of all ranks of a job.
        let is_refused = matches!(stacks, Err(StackError::Forbidden { .. } | StackError::Yama { .. }));
        ranks.push(RankStack { rank: view.rank, host: None, pid, stacks });
        if is_refused {
            break;
        }
    }
    ranks
}

fn chosen<'a>(seen: &'a Observation, found: &[Finding], choice: StackChoice) -> (Reason, Vec<&'a RankView>) {
    let is_there = |view: &&RankView| view.pid.is_some() && !matches!(view.standing, Standing::Exited { .. });
    let all = || seen.ranks.iter().filter(is_there).collect();
    if choice == StackChoice::All {
        return (Reason::Asked, all());
    }
    let holds = |view: &&RankView| {
        let names = |finding: &Finding| {
            finding.kind != FindingKind::BehindDeadlock && finding.ranks.contains(&view.rank)
        };
        is_there(view) && found.iter().any(names)
    };
    let holding: Vec<&RankView> = seen.ranks.iter().filter(holds).collect();
    if !holding.is_empty() {
        return (Reason::Holding, holding);
    }
    if found.is_empty() {
        return (Reason::NoneHolds, all());
    }
    let waits = |view: &&RankView| view.waits_in().is_some();
    (Reason::WaitingForEnded, seen.ranks.iter().filter(is_there).filter(waits).collect())
}

// ---- what people want to see of a stack ----

/// Libraries of which only the function is shown that the program has called, by the beginnings of their
/// names.
const LIBRARIES: &[&str] = &[
    "libmpi",
    "libpmpi",
    "libmpich",
    "libevenkeel",
    "libopen-",
    "libpmix",
    "libevent",
    "libhwloc",
    "libuc",
    "libfabric",
    "libpsm",
    "mca_",
    "libc.so",
    "libc-",
    "libpthread",
    "libm.so",
    "ld-linux",
    "libatomic",
];

fn is_of_library(frame: &Frame) -> bool {
    let is_named = |module: &str| LIBRARIES.iter().any(|beginning| module.starts_with(beginning));
    frame.language == Language::Native && frame.module.as_deref().is_none_or(is_named)
}

/// Whether a frame is the call of MPI itself.
fn is_mpi_call(frame: &Frame) -> bool {
    let name = frame.function.as_deref().unwrap_or_default().to_ascii_lowercase();
    is_of_library(frame) && (name.starts_with("mpi_") || name.starts_with("pmpi_"))
}

/// Without what a call of MPI does within the MPI library. A function of the program that the library has
/// called stays.
fn without_library(mut stacks: ProcessStacks) -> ProcessStacks {
    for thread in &mut stacks.threads {
        let end = thread.frames.iter().position(|frame| !is_of_library(frame)).unwrap_or(thread.frames.len());
        if let Some(call) = thread.frames[..end].iter().rposition(is_mpi_call) {
            thread.frames.drain(..call);
            // Lines of evenkeel's own wrapper tell nothing.
            (thread.frames[0].file, thread.frames[0].line) = (None, None);
        }
    }
    stacks
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_stacks::ThreadStack;
    use std::time::Duration;

    fn frame(function: &str, module: &str) -> Frame {
        let (language, module) = match module {
            "" => (Language::Python, None),
            module => (Language::Native, Some(module.to_string())),
        };
        Frame { language, function: Some(function.into()), file: None, line: None, module }
    }

    fn shown(frames: &[(&str, &str)]) -> Vec<String> {
        let frames = frames.iter().map(|(function, module)| frame(function, module)).collect();
        let thread = ThreadStack { tid: 1, frames, is_complete: true, stood_still: Duration::ZERO };
        let shown = without_library(ProcessStacks { threads: vec![thread], ..ProcessStacks::default() });
        shown.threads[0].frames.iter().filter_map(|frame| frame.function.clone()).collect()
    }

    #[test]
    fn only_the_call_of_mpi_is_shown_of_the_library() {
        let in_c = [
            ("poll", "libc.so.6"),
            ("opal_progress", "libopen-pal.so.40"),
            ("PMPI_Recv", "libmpi.so.40"),
            ("MPI_Recv", "libevenkeel-openmpi4.so"),
            ("exchange", "solver"),
            ("main", "solver"),
        ];
        assert_eq!(shown(&in_c), ["MPI_Recv", "exchange", "main"]);
        let in_fortran =
            [("MPI_Recv", "libmpi.so.40"), ("mpi_recv_", "libmpi_mpifh.so.40"), ("MAIN__", "a.out")];
        assert_eq!(shown(&in_fortran), ["mpi_recv_", "MAIN__"]);
        assert_eq!(shown(&[("read", "libc.so.6"), ("main", "mpi_solver")]), ["read", "main"]);
        assert_eq!(shown(&[("read", "libc.so.6")]), ["read"]);
    }

    #[test]
    fn a_function_that_the_library_has_called_stays() {
        let operator = [
            ("largest", "solver"),
            ("ompi_op_reduce", "libmpi.so.40"),
            ("MPI_Allreduce", "libevenkeel-openmpi4.so"),
            ("main", "solver"),
        ];
        assert_eq!(shown(&operator).len(), 4);
        assert_eq!(shown(&[("MPI_Send", "libmpi.so.12"), ("step", "")]), ["MPI_Send", "step"]);
    }

    fn finding(kind: FindingKind, ranks: &[u32]) -> Finding {
        Finding { kind, ranks: ranks.to_vec(), sentence: String::new() }
    }

    #[test]
    fn the_ranks_that_hold_up_others_are_looked_at() {
        let view = |rank| RankView {
            pid: (rank != 3).then_some(100 + rank),
            ..RankView::example(
                rank,
                if rank == 3 { Standing::Exited { finished: false } } else { Standing::Outside },
            )
        };
        let seen =
            Observation { hosts: vec![String::new()], ranks: (0..4).map(view).collect(), ranks_in_all: 4 };
        let ranks = |found: &[Finding], choice| {
            let (reason, views) = chosen(&seen, found, choice);
            (reason, views.iter().map(|view| view.rank).collect::<Vec<_>>())
        };
        let deadlock = [finding(FindingKind::Deadlock, &[0, 1]), finding(FindingKind::BehindDeadlock, &[2])];
        assert_eq!(ranks(&deadlock, StackChoice::Holding), (Reason::Holding, vec![0, 1]));
        assert_eq!(ranks(&deadlock, StackChoice::All), (Reason::Asked, vec![0, 1, 2]));
        assert_eq!(ranks(&[], StackChoice::Holding), (Reason::NoneHolds, vec![0, 1, 2]));
        let ended = [finding(FindingKind::Exited, &[3])];
        assert_eq!(ranks(&ended, StackChoice::Holding), (Reason::WaitingForEnded, vec![]));
    }
}
