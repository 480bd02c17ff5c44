//! What the client takes for the cause of a job's end.

use super::messages::Failure;
use super::rules::{Rule, Rules};

/// The failures that the client has heard of, as far as they matter.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    /// What has ended the job.
    cause: Option<Failure>,
    /// What may have failed before it, elsewhere.
    rival: Option<Failure>,
    /// What has failed before, and has ended nothing.
    noted: Option<Failure>,
}

/// What follows from a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upshot {
    /// The job goes on.
    GoesOn,
    /// It ends.
    Ends {
        /// Whether its processes have time to end by themselves first.
        is_patient: bool,
    },
}

impl Verdict {
    /// What has ended the job, with the exit code of what failed first; else what was only noted.
    pub(super) fn cause(&self) -> Option<&Failure> {
        self.cause.as_ref().or(self.noted.as_ref())
    }

    /// A failure that may have come before the cause, and be what it followed from.
    pub(super) fn rival(&self) -> Option<&Failure> {
        self.cause.as_ref().and(self.rival.as_ref())
    }

    /// Hears of a failure.
    pub(super) fn hear(&mut self, failure: Failure, rules: Rules) -> Upshot {
        if failure.is_only_noted {
            if self.cause.is_none() && comes_before(&failure, self.noted.as_ref(), rules) {
                self.noted = Some(failure);
            }
            return Upshot::GoesOn;
        }
        let is_patient = failure.is_patient;
        if comes_before(&failure, self.cause.as_ref(), rules) {
            let first = self.noted.as_ref().filter(|noted| !comes_before(&failure, Some(noted), rules));
            let code = first.map_or(failure.code, |first| first.code);
            self.cause = Some(Failure { code, ..failure });
        } else if failure.is_before_end && !failure.is_consequence && rules.has(Rule::BothCauses) {
            self.rival.get_or_insert(failure);
        }
        Upshot::Ends { is_patient }
    }

    /// The user has sent a signal that ends the job: it is the cause, if there is none yet.
    pub(super) fn interrupt(&mut self, number: i32) {
        if self.cause.is_none() {
            self.cause = Some(Failure {
                code: 128 + number as u8,
                // The user knows of the signal, and not of what has failed before.
                text: self.noted.as_ref().map(|noted| noted.text.clone()).unwrap_or_default(),
                is_patient: true,
                is_only_noted: false,
                is_consequence: false,
                is_before_end: false,
            });
        }
    }
}

/// Whether a failure that is heard of now takes the place of one that is known.
fn comes_before(failure: &Failure, known: Option<&Failure>, rules: Rules) -> bool {
    known.is_none_or(|known| known.is_consequence && !failure.is_consequence || !rules.has(Rule::FirstCause))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(code: u8) -> Failure {
        Failure { code, text: code.to_string(), is_patient: true, ..Failure::lost(String::new()) }
    }

    /// Of a process whose engine has noticed that another one is dead.
    fn consequence() -> Failure {
        Failure { is_consequence: true, ..exit(71) }
    }

    fn heard(failures: &[Failure], rules: Rules) -> Verdict {
        let mut verdict = Verdict::default();
        for failure in failures {
            verdict.hear(failure.clone(), rules);
        }
        verdict
    }

    fn codes(failures: &[Failure], rules: Rules) -> (Option<u8>, Option<u8>) {
        let verdict = heard(failures, rules);
        (verdict.cause().map(|cause| cause.code), verdict.rival().map(|rival| rival.code))
    }

    #[test]
    fn the_first_failure_that_is_no_consequence_is_the_cause() {
        let all = [consequence(), exit(3), exit(4), consequence()];
        assert_eq!(codes(&all, Rules::default()), (Some(3), None));
        assert_eq!(codes(&all[2..], Rules::without(Rule::FirstCause)), (Some(71), None));
        assert_eq!(codes(&[], Rules::default()), (None, None));
    }

    #[test]
    fn what_may_have_failed_before_the_cause_is_its_rival() {
        let all = [exit(3), consequence(), Failure { is_before_end: true, ..exit(4) }];
        assert_eq!(codes(&all, Rules::default()), (Some(3), Some(4)));
        assert_eq!(codes(&all, Rules::without(Rule::BothCauses)), (Some(3), None));
        assert_eq!(codes(&all[..2], Rules::default()), (Some(3), None), "both knew of the end");
    }

    #[test]
    fn what_is_only_noted_ends_nothing_and_keeps_the_exit_code() {
        let noted = Failure { is_only_noted: true, ..exit(4) };
        let mut verdict = Verdict::default();
        assert_eq!(verdict.hear(noted.clone(), Rules::default()), Upshot::GoesOn);
        assert_eq!(verdict.cause(), Some(&noted));
        let lost = Failure::lost("b is lost".into());
        assert_eq!(verdict.hear(lost, Rules::default()), Upshot::Ends { is_patient: false });
        assert_eq!(verdict.cause().map(|cause| (cause.code, &cause.text[..])), Some((4, "b is lost")));
    }

    #[test]
    fn a_signal_is_the_cause_unless_something_has_ended_the_job_before() {
        let (mut calm, mut failed) = (Verdict::default(), heard(&[exit(3)], Rules::default()));
        for verdict in [&mut calm, &mut failed] {
            verdict.interrupt(15);
        }
        assert_eq!(calm.cause().map(|cause| (cause.code, &cause.text[..])), Some((143, "")));
        assert_eq!(failed.cause().map(|cause| cause.code), Some(3));
    }
}
