//! When ranks get SIGTERM and when SIGKILL. Pure: the caller says what time it is.

use crate::ending::Cause;
use std::time::{Duration, Instant};

/// How many times as long ranks have after SIGTERM, or after the signal of a person.
const AFTER_SIGTERM: u32 = 4;

/// Signals that arrive within this time are one: `kill -INT -GROUP` reaches the launcher twice.
const SAME: Duration = Duration::from_millis(200);

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    None,
    Terminate,
    Kill,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// A rank has failed; the others have until then to end by themselves.
    Failing(Instant),
    /// Ranks have been told to end; they have until then.
    Ending(Instant),
    Killed,
}

/// The end of a job.
#[derive(Debug)]
pub(super) struct Shutdown {
    grace: Duration,
    phase: Phase,
    cause: Option<Cause>,
    has_signalled: bool,
    is_said: bool,
    interrupted_at: Option<Instant>,
}

impl Shutdown {
    pub(super) fn new(grace: Duration) -> Shutdown {
        Shutdown {
            grace,
            phase: Phase::Running,
            cause: None,
            has_signalled: false,
            is_said: false,
            interrupted_at: None,
        }
    }

    /// Why the job ends: what came first.
    pub(super) fn cause(&self) -> Option<&Cause> {
        self.cause.as_ref()
    }

    /// Whether ranks have been told to end.
    pub(super) fn has_signalled(&self) -> bool {
        self.has_signalled
    }

    /// Whether the cause has been printed.
    pub(super) fn is_said(&self) -> bool {
        self.is_said
    }

    /// Ends the job.
    pub(super) fn begin(&mut self, cause: Cause, now: Instant) {
        if self.phase == Phase::Running {
            let wait = if cause.is_patient() { self.grace } else { Duration::ZERO };
            self.phase = Phase::Failing(now + wait);
        } else if !cause.is_patient() && matches!(self.phase, Phase::Failing(_)) {
            self.phase = Phase::Failing(now);
        }
        self.cause.get_or_insert(cause);
    }

    /// A rank has ended, which is a failure. Returns whether the job goes on with it (`keep_going`) and it is
    /// to be printed now.
    pub(super) fn fail(&mut self, cause: &Cause, keep_going: bool, now: Instant) -> bool {
        match &self.cause {
            // The engine of a rank that lives may have been faster than the launcher.
            Some(known) if known.is_consequence() && cause.is_death() && !self.has_signalled => {
                self.cause = Some(cause.clone());
            }
            Some(_) => {}
            None if keep_going && cause.is_patient() => {
                (self.cause, self.is_said) = (Some(cause.clone()), true);
                return true;
            }
            None => self.begin(cause.clone(), now),
        }
        false
    }

    /// Whether ranks end because a person, or this process, wants it.
    pub(super) fn is_wanted(&self) -> bool {
        self.has_signalled || matches!(self.cause, Some(Cause::Interrupted { .. } | Cause::Orphaned))
    }

    /// A person, or a program, wants the job to end. The ranks have been sent the signal. The second time
    /// they are killed.
    pub(super) fn interrupt(&mut self, number: i32, now: Instant) {
        match self.interrupted_at {
            Some(at) if now - at < SAME => return,
            Some(_) => self.phase = Phase::Ending(now),
            None if !matches!(self.phase, Phase::Killed) => {
                self.phase = Phase::Ending(now + self.grace * AFTER_SIGTERM);
            }
            None => {}
        }
        self.interrupted_at = Some(now);
        self.cause.get_or_insert(Cause::Interrupted { number });
    }

    /// When [`Shutdown::step`] is to be called next.
    pub(super) fn next_at(&self) -> Option<Instant> {
        match self.phase {
            Phase::Failing(at) | Phase::Ending(at) => Some(at),
            Phase::Running | Phase::Killed => None,
        }
    }

    /// What is to be done at this time.
    pub(super) fn step(&mut self, now: Instant) -> Step {
        match self.phase {
            Phase::Failing(at) if now >= at => {
                self.has_signalled = true;
                self.phase = Phase::Ending(now + self.grace * AFTER_SIGTERM);
                Step::Terminate
            }
            Phase::Ending(at) if now >= at => {
                self.has_signalled = true;
                self.phase = Phase::Killed;
                Step::Kill
            }
            _ => Step::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_millis(500);

    fn exit() -> Cause {
        Cause::Exit { rank: "1".into(), pid: 1, code: 3 }
    }

    #[test]
    fn the_others_have_time_after_a_failure() {
        let (mut shutdown, start) = (Shutdown::new(GRACE), Instant::now());
        assert_eq!(shutdown.step(start), Step::None);
        shutdown.begin(exit(), start);
        assert_eq!(shutdown.step(start), Step::None);
        assert_eq!(shutdown.step(start + GRACE), Step::Terminate);
        assert_eq!(shutdown.step(start + GRACE * 4), Step::None);
        assert_eq!(shutdown.step(start + GRACE * 5), Step::Kill);
        assert_eq!(shutdown.step(start + GRACE * 50), Step::None);
    }

    #[test]
    fn an_abort_ends_all_at_once_and_a_failure_before_it_stays_the_cause() {
        let (mut shutdown, start) = (Shutdown::new(GRACE), Instant::now());
        shutdown.begin(exit(), start);
        shutdown.begin(Cause::Abort { rank: "0".into(), code: 1 }, start);
        assert_eq!(shutdown.step(start), Step::Terminate);
        assert_eq!(shutdown.cause(), Some(&exit()));
    }

    #[test]
    fn the_death_that_others_have_noticed_before_is_the_cause() {
        let noticed = Cause::Exit { rank: "1".into(), pid: 1, code: 71 };
        let death = Cause::Signal { rank: "0".into(), pid: 2, number: 9, has_core: false };
        let cause_of = |failures: &[&Cause]| {
            let (mut shutdown, start) = (Shutdown::new(GRACE), Instant::now());
            failures.iter().for_each(|cause| assert!(!shutdown.fail(cause, false, start)));
            shutdown.cause().cloned()
        };
        assert_eq!(cause_of(&[&noticed, &death]), Some(death.clone()));
        assert_eq!(cause_of(&[&exit(), &death]), Some(exit()));
        assert_eq!(cause_of(&[&noticed, &exit()]), Some(noticed), "an exit may follow from it");
    }

    #[test]
    fn a_job_that_goes_on_has_its_first_failure_printed_and_does_not_end() {
        let (mut shutdown, start) = (Shutdown::new(GRACE), Instant::now());
        assert!(shutdown.fail(&exit(), true, start) && shutdown.is_said());
        assert!(!shutdown.fail(&exit(), true, start), "it was the first");
        assert_eq!((shutdown.step(start + GRACE * 9), shutdown.next_at()), (Step::None, None));
        assert_eq!(shutdown.cause(), Some(&exit()));
    }

    #[test]
    fn ranks_that_are_told_to_end_do_not_fail() {
        let (mut shutdown, start) = (Shutdown::new(GRACE), Instant::now());
        shutdown.begin(exit(), start);
        assert!(!shutdown.is_wanted());
        shutdown.step(start + GRACE);
        assert!(shutdown.is_wanted());
        let mut shutdown = Shutdown::new(GRACE);
        shutdown.interrupt(2, start);
        assert!(shutdown.is_wanted());
    }

    #[test]
    fn the_second_interrupt_kills_and_an_echo_does_not() {
        let (mut shutdown, start) = (Shutdown::new(GRACE), Instant::now());
        shutdown.interrupt(2, start);
        shutdown.interrupt(2, start + SAME / 2);
        assert_eq!(shutdown.step(start + SAME), Step::None);
        shutdown.interrupt(2, start + SAME * 2);
        assert_eq!(shutdown.step(start + SAME * 2), Step::Kill);
        assert_eq!(shutdown.cause(), Some(&Cause::Interrupted { number: 2 }));
    }
}
