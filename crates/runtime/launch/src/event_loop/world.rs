//! The ranks that a job starts with: what each is called, and what it is given.

use crate::hosted_job::HostedJob;
use crate::job::{Job, OutputStyle, StandardInput};
use crate::processes::{self, Started};
use crate::rank_place::RankPlace;
use std::ffi::OsString;
use std::io;

/// A rank that is to be started.
#[derive(Debug)]
pub(super) struct Unstarted {
    /// Its number, on this host.
    pub(super) local: u32,
    /// For people.
    pub(super) name: String,
    /// What is in front of its lines.
    pub(super) label: String,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) has_input: bool,
    speaks_pmi: bool,
}

impl Unstarted {
    pub(super) fn start(&self, job: &Job) -> io::Result<Started> {
        let (has_input, speaks_pmi) = (self.has_input, self.speaks_pmi);
        processes::start(&job.program, &job.arguments, None, &self.variables, has_input, speaks_pmi)
    }
}

/// All ranks of a job on this machine.
pub(super) fn on_one_host(job: &Job) -> Vec<Unstarted> {
    let rank = |local: u32| Unstarted {
        local,
        name: format!("rank {local}"),
        label: label(job, &local.to_string()),
        variables: variables(job, local, job.ranks),
        has_input: local == 0 && job.input == StandardInput::First,
        speaks_pmi: true,
    };
    (0..job.ranks).map(rank).collect()
}

/// Those of this host, of a job on several.
pub(super) fn on_this_host(part: &HostedJob) -> Vec<Unstarted> {
    let rank = |local: u32| Unstarted {
        local,
        name: part.name_of(local),
        label: part.label_of(local),
        variables: part.variables(local),
        has_input: local == 0 && part.reads_input,
        speaks_pmi: part.is_mpi,
    };
    (0..part.ranks).map(rank).collect()
}

/// What is in front of the lines of a rank of a job on this machine.
pub(super) fn label(job: &Job, rank: &str) -> String {
    match job.output {
        OutputStyle::Lines => String::new(),
        OutputStyle::Labelled => format!("[{rank}] "),
    }
}

/// What such a rank finds in its environment.
pub(super) fn variables(job: &Job, rank: u32, size: u32) -> Vec<(OsString, OsString)> {
    job.variables.iter().cloned().chain(RankPlace::on_one_host(rank, size).variables()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosted_job::HostLabel;
    use std::time::Duration;

    fn job(output: OutputStyle, input: StandardInput) -> Job {
        Job {
            ranks: 2,
            program: "a".into(),
            arguments: Vec::new(),
            variables: vec![("X".into(), "1".into())],
            pmix: None,
            output,
            input,
            grace: Duration::ZERO,
            keep_going: false,
        }
    }

    fn value(rank: &Unstarted, name: &str) -> Option<String> {
        let found = rank.variables.iter().find(|(variable, _)| variable == name);
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    }

    #[test]
    fn the_first_rank_reads_standard_input_if_one_is_to() {
        let reads =
            |input| on_one_host(&job(OutputStyle::Lines, input)).iter().map(|r| r.has_input).collect();
        let (first, none): (Vec<bool>, Vec<bool>) = (reads(StandardInput::First), reads(StandardInput::None));
        assert_eq!((first, none), (vec![true, false], vec![false, false]));
    }

    #[test]
    fn ranks_of_one_host_find_their_numbers_and_the_variables_of_the_job() {
        let ranks = on_one_host(&job(OutputStyle::Labelled, StandardInput::None));
        assert_eq!([&ranks[1].name, &ranks[1].label], ["rank 1", "[1] "]);
        let found = ["X", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"].map(|name| value(&ranks[1], name));
        assert_eq!(found, ["1", "1", "2", "1"].map(|value| Some(value.to_string())));
    }

    #[test]
    fn ranks_of_a_host_count_on_from_those_of_others_and_commands_have_no_numbers() {
        let mut part = HostedJob {
            name: "n".into(),
            host: "h".into(),
            host_number: 1,
            program: "a".into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            directory: "/".into(),
            ranks: 2,
            first_rank: 4,
            all_ranks: 6,
            mapping: String::new(),
            is_mpi: true,
            label: HostLabel::Rank,
            reads_input: false,
            grace_ms: 0,
            keep_going: false,
            patience_ms: 1,
        };
        let ranks = on_this_host(&part);
        assert_eq!([&ranks[1].name, &ranks[1].label], ["rank 5 on h", "[5] "]);
        let found = ["PMI_RANK", "MPI_LOCALRANKID"].map(|name| value(&ranks[1], name));
        assert_eq!(found, ["5", "1"].map(|value| Some(value.to_string())));
        part.is_mpi = false;
        assert!(on_this_host(&part).iter().all(|rank| rank.variables.is_empty() && !rank.speaks_pmi));
    }
}
