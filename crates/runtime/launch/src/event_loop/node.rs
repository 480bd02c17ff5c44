//! The node process of this host, if the job runs on several: what it orders, and what it is told.

use super::silence::Silence;
use super::sources::{Source, Sources};
use crate::channel::Channel;
use crate::ending::Cause;
use crate::hosted_job::{HostedJob, Order, Report};
use crate::job::JobError;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

/// The connection to it, and this host's part of the job.
#[derive(Debug)]
pub(super) struct Node {
    channel: Channel,
    part: HostedJob,
    /// Since when it has not been heard of.
    silence: Silence,
}

impl Node {
    pub(super) fn new(channel: Channel, part: HostedJob, sources: &Sources) -> Result<Node, JobError> {
        sources.watch(channel.descriptor(), Source::Node)?;
        let silence = Silence::new(Duration::from_millis(part.patience_ms), Instant::now());
        Ok(Node { channel, part, silence })
    }

    /// What is to run here.
    pub(super) fn part(&self) -> &HostedJob {
        &self.part
    }

    /// The orders that have come, and whether the node has gone.
    pub(super) fn take_orders(&mut self) -> (Vec<Order>, bool) {
        self.channel.flush();
        let orders = self.channel.receive::<Order>();
        if !orders.is_empty() {
            self.silence.is_broken(Instant::now());
        }
        (orders, self.channel.is_closed())
    }

    /// Tells the node something.
    pub(super) fn report(&mut self, report: &Report, sources: &Sources) {
        self.channel.send(report);
        self.await_room(sources);
    }

    /// Waits for room to write, if there is something to write.
    pub(super) fn await_room(&self, sources: &Sources) {
        sources.await_room(self.channel.descriptor(), Source::Node, self.channel.has_output());
    }

    /// When [`Node::failure_by_silence`] is to be called next, at the latest.
    pub(super) fn next_look(&self) -> Instant {
        self.silence.next_look()
    }

    /// Why the job ends, if the node has been silent for too long. It may live and read this later: the end
    /// is no success.
    pub(super) fn failure_by_silence(&mut self, now: Instant) -> Option<Cause> {
        let HostedJob { host, patience_ms, .. } = &self.part;
        let cause = || Cause::Unheard { host: host.clone(), patience_ms: *patience_ms };
        self.silence.is_too_long(now).then(cause)
    }

    /// Nothing of the job is left here.
    pub(super) fn finish(&mut self) {
        self.channel.send(&Report::Ended);
        self.channel.finish();
    }
}

/// A failure here; None if the user knows. `keep_going`: see [`Job`](crate::Job).
pub(super) fn failure(cause: &Cause, keep_going: bool) -> Option<Report> {
    Some(Report::Failed {
        code: cause.code(),
        text: cause.sentence(false)?,
        is_patient: cause.is_patient(),
        is_only_noted: keep_going && cause.is_patient(),
        is_consequence: cause.is_consequence(),
    })
}

/// The job could not be started on this host.
pub(super) fn not_started(host: &str, error: &JobError) -> Report {
    let (code, text) = match error {
        JobError::Start { program, why, .. } => {
            let code = if why.kind() == ErrorKind::NotFound { 127 } else { 126 };
            (code, format!("cannot start {} on {host}: {why}.", program.display()))
        }
        other => (1, format!("on {host}: {other}")),
    };
    Report::Failed { code, text, is_patient: false, is_only_noted: false, is_consequence: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_ends_nothing_if_the_job_is_to_go_on_and_may() {
        let noted = |cause: &Cause, keep_going| match failure(cause, keep_going) {
            Some(Report::Failed { is_only_noted, .. }) => Some(is_only_noted),
            _ => None,
        };
        let exit = Cause::Exit { rank: "rank 0".into(), pid: 1, code: 3 };
        let abort = Cause::Abort { rank: "rank 0".into(), code: 3 };
        assert_eq!([noted(&exit, false), noted(&exit, true)], [Some(false), Some(true)]);
        assert_eq!(noted(&abort, true), Some(false));
        assert_eq!(noted(&Cause::Orphaned, true), None);
    }

    #[test]
    fn a_program_that_cannot_start_has_the_exit_code_of_shells() {
        for (kind, expected) in [(ErrorKind::NotFound, 127), (ErrorKind::PermissionDenied, 126)] {
            let error = JobError::Start { rank: 0, program: "./a".into(), why: kind.into() };
            let Report::Failed { code, text, .. } = not_started("h", &error) else { panic!() };
            assert!(code == expected && text.starts_with("cannot start ./a on h: "), "{code}: {text}");
        }
    }
}
