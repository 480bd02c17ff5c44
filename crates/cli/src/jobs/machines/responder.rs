//! The process on another machine: answers what it is asked until its input ends.

use super::message::{Introduction, JobHead, Looked, Request, Seen, Stacks};
use crate::jobs::discovery::{self, Job};
use crate::jobs::observation::{self, FirstLook, Observation};
use crate::jobs::stacks;
use crate::machine::{processor_time, system};
use serde::Serialize;
use std::io::{BufRead, Write};

/// Serves until standard input ends, or standard output is closed.
pub fn serve() {
    let _ = answer(std::io::stdin().lock(), std::io::stdout().lock());
}

/// A look that has been taken.
struct Begun {
    job: Job,
    first: FirstLook,
    cpu_before: f64,
}

fn answer(input: impl BufRead, mut output: impl Write) -> std::io::Result<()> {
    say(&mut output, &introduction())?;
    let (mut begun, mut seen): (Option<Begun>, Option<Observation>) = (None, None);
    for line in input.lines() {
        match serde_json::from_str(&line?).map_err(std::io::Error::other)? {
            Request::FirstLook(number) => {
                begun = first_look(number);
                say(&mut output, &Looked { is_there: begun.is_some() })?;
            }
            Request::SecondLook => {
                let Some(Begun { job, first, cpu_before }) = begun.take() else { break };
                let observation = observation::second_look(&job, first);
                seen = Some(observation.clone());
                let cpu_seconds = processor_time::of_this_process() - cpu_before;
                say(&mut output, &Seen { observation, cpu_seconds })?;
            }
            Request::Stacks(ranks) => {
                let views = seen.iter().flat_map(|seen| &seen.ranks).filter(|it| ranks.contains(&it.rank));
                let stacks: Stacks = stacks::of_ranks(views);
                say(&mut output, &stacks)?;
            }
        }
    }
    Ok(())
}

fn say(output: &mut impl Write, value: &impl Serialize) -> std::io::Result<()> {
    let line = serde_json::to_string(value).expect("it consists of plain data");
    writeln!(output, "{line}")?;
    output.flush()
}

fn introduction() -> Introduction {
    let found = discovery::jobs();
    Introduction {
        version: env!("CARGO_PKG_VERSION").into(),
        host: system::host_name(),
        jobs: found.jobs.iter().map(JobHead::of).collect(),
        refused: found.refused.iter().map(ToString::to_string).collect(),
    }
}

fn first_look(number: u64) -> Option<Begun> {
    let cpu_before = processor_time::of_this_process();
    let job = discovery::jobs().jobs.into_iter().find(|job| job.number() == Some(number))?;
    Some(Begun { first: FirstLook::take(&job), job, cpu_before })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_is_not_there_is_said_not_to_be() {
        let requests = [Request::FirstLook(7), Request::Stacks(vec![1])];
        let lines = requests.iter().map(|it| serde_json::to_string(it).unwrap() + "\n").collect::<String>();
        let mut output = Vec::new();
        answer(lines.as_bytes(), &mut output).unwrap();
        let lines: Vec<&str> = std::str::from_utf8(&output).unwrap().lines().collect();
        let first: Introduction = serde_json::from_str(lines[0]).unwrap();
        assert_eq!((first.host, lines.len()), (system::host_name(), 3));
        assert_eq!(serde_json::from_str::<Looked>(lines[1]).unwrap(), Looked { is_there: false });
        assert_eq!(serde_json::from_str::<Stacks>(lines[2]).unwrap(), []);
        assert!(answer(&b"?\n"[..], Vec::new()).is_err());
    }
}
