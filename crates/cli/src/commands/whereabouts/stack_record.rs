//! The call stacks that `evenkeel where --stacks --json` prints.

use crate::jobs::stacks::{RankStack, Reason, TakenStacks};
use evenkeel_stacks::{Frame, Language, ThreadStack};
use serde::Serialize;

/// The stacks that were taken.
#[derive(Serialize)]
pub struct StacksRecord<'a> {
    /// Of which ranks: `holding`, `waiting`, `none-holds` (all, because none is known to hold up others), or
    /// `all`.
    of: &'static str,
    ranks: Vec<RankRecord<'a>>,
    /// So many more were not looked at.
    left_out: usize,
}

#[derive(Serialize)]
struct RankRecord<'a> {
    rank: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    pid: u32,
    /// Why there are none, as the end of a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out_because: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    python_problem: Option<&'a str>,
    threads: Vec<ThreadRecord<'a>>,
    /// Threads that sleep and were not looked at.
    sleeping_threads: usize,
}

#[derive(Serialize)]
struct ThreadRecord<'a> {
    tid: u32,
    /// For how long it stood still, at most.
    stood_still_us: f64,
    is_complete: bool,
    /// Innermost first.
    frames: Vec<FrameRecord<'a>>,
}

#[derive(Serialize)]
struct FrameRecord<'a> {
    /// `native` or `python`.
    language: &'static str,
    function: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    module: Option<&'a str>,
}

impl<'a> StacksRecord<'a> {
    /// As it is printed.
    pub fn new(taken: &'a TakenStacks) -> StacksRecord<'a> {
        let of = match taken.reason {
            Reason::Holding => "holding",
            Reason::WaitingForEnded => "waiting",
            Reason::NoneHolds => "none-holds",
            Reason::Asked => "all",
        };
        StacksRecord { of, ranks: taken.ranks.iter().map(rank).collect(), left_out: taken.left_out }
    }
}

fn rank(stack: &RankStack) -> RankRecord<'_> {
    let taken = stack.stacks.as_ref();
    RankRecord {
        rank: stack.rank,
        host: stack.host.as_deref(),
        pid: stack.pid,
        left_out_because: taken.err().map(ToString::to_string),
        python_problem: taken.ok().and_then(|taken| taken.python_problem.as_deref()),
        threads: taken.map_or(Vec::new(), |taken| taken.threads.iter().map(thread).collect()),
        sleeping_threads: taken.map_or(0, |taken| taken.sleeping),
    }
}

fn thread(thread: &ThreadStack) -> ThreadRecord<'_> {
    ThreadRecord {
        tid: thread.tid,
        stood_still_us: thread.stood_still.as_nanos() as f64 / 1e3,
        is_complete: thread.is_complete,
        frames: thread.frames.iter().map(frame).collect(),
    }
}

fn frame(frame: &Frame) -> FrameRecord<'_> {
    FrameRecord {
        language: if frame.language == Language::Python { "python" } else { "native" },
        function: frame.function.as_deref(),
        file: frame.file.as_deref(),
        line: frame.line,
        module: frame.module.as_deref(),
    }
}
