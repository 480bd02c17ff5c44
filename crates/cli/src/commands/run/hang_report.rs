//! What is said on standard error of a job that hangs: what `evenkeel where --stacks` says of it.

use crate::jobs::discovery::{self, Job};
use crate::jobs::machines::{JobAddress, Ways, WholeJob};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the look at a job may take.
const LOOK: Duration = Duration::from_secs(60);

/// Says where all jobs are that this process has started. `ways` lead to other machines.
pub fn print_all(ways: &Ways) {
    let me = std::process::id();
    let mut jobs = discovery::jobs().jobs;
    jobs.retain(|job| job.has_been_started_by(me));
    let here = jobs.iter().filter_map(Job::lowest);
    let mut known: Vec<JobAddress> = here.map(|process| JobAddress { process, hosts: Vec::new() }).collect();
    if known.is_empty() {
        known.extend(address_elsewhere(ways));
    }
    if known.is_empty() {
        eprintln!(
            "evenkeel: where its ranks are is not known: none on this machine is under evenkeel between \
             MPI_Init and its end. If they are on others, name these with --hosts."
        );
    }
    known.iter().for_each(|job| print(job, ways));
}

/// The job of this process that has no ranks on this machine, if it is found on others.
fn address_elsewhere(ways: &Ways) -> Option<JobAddress> {
    let found = WholeJob::search_elsewhere(ways, 0).ok()??.run();
    let run = discovery::run_value(std::process::id());
    WholeJob::elsewhere(&run, found).map(|job| job.address())
}

/// Says where a job is: what `evenkeel where` says of it.
pub fn print(job: &JobAddress, ways: &Ways) {
    let hosts = Some(job.hosts.join(",")).filter(|hosts| !hosts.is_empty());
    let looking = std::env::current_exe().and_then(|program| {
        let error = std::io::stderr().as_fd().try_clone_to_owned()?;
        Command::new(program)
            .args(["where", &job.process.to_string(), "--stacks"])
            .args(hosts.iter().flat_map(|hosts| ["--hosts", hosts]))
            .args(ways.shell.iter().flat_map(|shell| ["--remote-shell", shell]))
            .stdin(Stdio::null())
            .stdout(error)
            .spawn()
    });
    match looking.map(wait) {
        Ok(true) => {}
        Ok(false) => eprintln!("evenkeel: looking at the job took longer than {} s.", LOOK.as_secs()),
        Err(error) => eprintln!("evenkeel: cannot look at the job: {error}."),
    }
}

/// Whether the look has ended in time.
fn wait(mut looking: Child) -> bool {
    const LOOK_EVERY: Duration = Duration::from_millis(5);
    let begun = Instant::now();
    while begun.elapsed() < LOOK {
        if !matches!(looking.try_wait(), Ok(None)) {
            return true;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let _ = looking.kill();
    let _ = looking.wait();
    false
}
