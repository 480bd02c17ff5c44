//! The answers to the page's questions, as JSON.
//!
//! Each question is a path with numbers as parameters. Answers are as large as what a screen can show, not as
//! large as the run: [`view`] is what is drawn for an interval, [`call_details`] what is known of a call, and
//! [`lists`] are tables.

mod call_details;
mod lists;
mod packed;
mod question;
mod source;
mod view;

pub use question::{Question, Wrong};

use crate::analysis::Analysis;
use crate::run::Run;
use serde::Serialize;
use serde_json::{Value, json};

/// Something that a check has found in the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// The rank, if it concerns one.
    pub rank: Option<u32>,
    /// Which call of the rank, if it concerns one.
    pub call: Option<u32>,
    /// The place in the program.
    pub site: Option<String>,
    /// What is wrong, in a sentence.
    pub text: String,
}

/// What the page asks about.
pub struct Answers {
    /// The folder of the trace.
    trace: String,
    analysis: Analysis,
    other: Option<(String, Run)>,
    findings: Option<Vec<Finding>>,
}

impl Answers {
    /// Of a trace; of another one, with its name, to compare it with; and of what a check has found.
    pub fn new(
        trace: String,
        analysis: Analysis,
        other: Option<(String, Run)>,
        findings: Option<Vec<Finding>>,
    ) -> Answers {
        Answers { trace, analysis, other, findings }
    }

    /// The answer to a question.
    pub fn answer(&self, question: &Question) -> Result<Value, Wrong> {
        let analysis = &self.analysis;
        match question.path.as_str() {
            "run" => Ok(self.run()),
            "view" => view::view(analysis, question),
            "call" => call_details::call(analysis, question),
            "why" => call_details::why(analysis, question),
            "source" => source::source(&analysis.run, question),
            "next" => lists::next(analysis, question),
            "waits" => lists::waits(analysis, question),
            "path" => lists::path(analysis, question),
            "supersteps" => lists::supersteps(analysis, question),
            "graph" => lists::graph(analysis, question),
            "difference" => Ok(self.difference()),
            _ => Err(Wrong::NoSuchQuestion),
        }
    }

    fn run(&self) -> Value {
        let run = &self.analysis.run;
        let lane = |number: usize| {
            let lane = &run.lanes[number];
            let process = &run.processes[lane.rank as usize];
            let name = run.lane_name(number as u32);
            json!({
                "name": name, "rank": lane.rank, "calls": lane.calls(), "starts": lane.starts,
                "ends": lane.ends(), "host": process.host, "process": process.process,
                "remark": if lane.thread == 0 { process.remark.as_str() } else { "" },
            })
        };
        let lanes: Vec<Value> = (0..run.lanes.len()).map(lane).collect();
        json!({
            "trace": self.trace, "other": self.other.as_ref().map(|other| &other.0),
            "version": env!("CARGO_PKG_VERSION"),
            "length": run.length(), "calls": run.calls(), "messages": run.messages.all.len(),
            "ranks": run.processes.len(), "hosts": run.hosts, "lanes": lanes, "functions": run.functions,
            "supersteps": self.analysis.supersteps.len(), "findings": self.findings,
        })
    }

    fn difference(&self) -> Value {
        let run = &self.analysis.run;
        let Some((name, other)) = &self.other else { return json!(null) };
        let all = crate::difference::differences(run, other);
        let rows: Vec<Value> = all.iter().map(|it| lists::difference(run, other, it)).collect();
        json!({"other": name, "rows": rows})
    }
}
