//! Starts the ranks in a child of this process, which may become the launcher, so that this process is there
//! afterwards.

use crate::errors::{CommandError, LaunchError};
use crate::output::outcome::Outcome;
use evenkeel_launch::{Watch, Watched};
use std::time::{Duration, Instant};

/// The exit code when the job has been ended, as that of timeout(1).
const EXIT_ENDED: u8 = 124;

/// How long the launcher has to end the job.
const GRACE: Duration = Duration::from_secs(5);

/// Runs what starts the ranks in a child of this process, looks at it as `watch` says, and returns how it
/// ended. `end` is called if `watch` has ended it.
pub fn run(
    launch: impl FnOnce() -> Result<Outcome, CommandError>,
    watch: &mut impl Watch,
    end: impl FnOnce(),
) -> Result<Outcome, CommandError> {
    let start = || match launch() {
        Ok(outcome) => outcome.code,
        Err(error) => {
            eprintln!("evenkeel: {error}");
            error.exit_code()
        }
    };
    match evenkeel_launch::run_watched(GRACE, start, watch) {
        Ok(Watched::Ended { code, signal }) => Ok(Outcome { signal, ..Outcome::of_program(code) }),
        Ok(Watched::Stopped) => {
            end();
            Ok(Outcome::of_program(EXIT_ENDED))
        }
        Err(error) => Err(LaunchError::from(error).into()),
    }
}

/// The same, where nothing ends the run but itself.
pub fn run_unwatched(
    launch: impl FnOnce() -> Result<Outcome, CommandError>,
) -> Result<Outcome, CommandError> {
    run(launch, &mut NoWatch, || ())
}

struct NoWatch;

impl Watch for NoWatch {
    fn next_look(&self) -> Option<Instant> {
        None
    }
    fn look(&mut self) -> bool {
        false
    }
    fn may_end(&self) -> bool {
        false
    }
}
