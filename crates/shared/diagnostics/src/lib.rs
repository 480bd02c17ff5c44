//! Diagnostics that a user can switch on: `EVENKEEL_LOG=debug evenkeel run -n 4 -- ./app`.
//!
//! [`start`] reads the variable and, if it asks for anything, prints the events of tracing's macros to
//! standard error, one line each:
//!
//! ```text
//! evenkeel[8120] debug evenkeel_cli::program::mpi: this MPI library was chosen path=/usr/lib/libmpi.so.40
//! ```
//!
//! May use: tracing, tracing-subscriber. Must never: print anything unless it was asked to, cost more than
//! the test of a static variable where it is off, or be started inside other people's programs.

use thiserror::Error;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;

/// The variable that says what is printed: a level (`error`, `warn`, `info`, `debug`, `trace`), `off`, or
/// levels of single modules as in `evenkeel_cli::program=debug,info`.
pub const VARIABLE: &str = "EVENKEEL_LOG";

/// The variable holds neither a level nor a list of modules with levels.
#[derive(Debug, Error)]
#[error(
    "cannot read {VARIABLE}={given}: {why}. Give it a level (error, warn, info, debug, trace or off), or \
     modules with levels as in evenkeel_cli::program=debug."
)]
pub struct FilterError {
    given: String,
    why: String,
}

/// Prints from now on what [`VARIABLE`] asks for. To be called once, when the program begins; `program` is
/// the name that stands in front of each line.
///
/// A value that cannot be read is reported on standard error, and nothing else is printed.
pub fn start(program: &'static str) {
    let Some(given) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) else { return };
    match filter(&given.to_string_lossy()) {
        Err(error) => eprintln!("evenkeel: {error}"),
        Ok(filter) => {
            // Another subscriber can be there in tests only.
            let _ = tracing::subscriber::set_global_default(subscriber(program, filter, std::io::stderr));
        }
    }
}

/// What the variable's value asks for.
fn filter(given: &str) -> Result<Targets, FilterError> {
    let failed = |why: String| FilterError { given: given.into(), why };
    // tracing takes any other word for a module's name, and would print nothing for `verbose`.
    let is_known = |word: &&str| {
        word.contains('=') || word.starts_with("evenkeel") || word.trim().parse::<LevelFilter>().is_ok()
    };
    if let Some(word) = given.split(',').find(|word| !is_known(word)) {
        return Err(failed(format!("`{word}` is neither a level nor a module of evenkeel")));
    }
    given.parse().map_err(|why: ParseError| failed(why.to_string()))
}

fn subscriber<W>(program: &'static str, filter: Targets, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer().event_format(Line { program }).with_writer(writer);
    tracing_subscriber::registry().with(filter).with(lines)
}

/// One event as a line: program, process, level, module, sentence, fields.
struct Line {
    program: &'static str,
}

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let metadata = event.metadata();
        let level = metadata.level().as_str().to_lowercase();
        write!(writer, "{}[{}] {level} {}: ", self.program, std::process::id(), metadata.target())?;
        context.format_fields(writer.by_ref(), event)?;
        writer.write_char('\n')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Printed(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Printed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printed(given: &str) -> String {
        let printed = Printed::default();
        let writer = printed.clone();
        let subscriber = subscriber("evenkeel", filter(given).unwrap(), move || writer.clone());
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(ranks = 4, "the launcher starts");
            tracing::debug!(target: "evenkeel_cli::program", "a file was read");
        });
        let bytes = printed.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_says_who_speaks_and_what_happened() {
        let pid = std::process::id();
        assert_eq!(
            printed("info"),
            format!("evenkeel[{pid}] info evenkeel_diagnostics::tests: the launcher starts ranks=4\n")
        );
    }

    #[test]
    fn levels_and_modules_are_filtered() {
        assert_eq!(printed("off"), "");
        assert_eq!(printed("debug").lines().count(), 2);
        assert!(printed("evenkeel_cli=debug").ends_with("evenkeel_cli::program: a file was read\n"));
        assert_eq!(printed("evenkeel_cli=debug").lines().count(), 1);
    }

    #[test]
    fn a_value_that_cannot_be_read_is_explained() {
        for (given, why) in [("verbose", "neither a level"), ("evenkeel_cli=loud", "level filter")] {
            let error = filter(given).unwrap_err().to_string();
            assert!(error.contains(&format!("EVENKEEL_LOG={given}")) && error.contains(why), "{error}");
            assert!(error.contains("Give it a level"), "{error}");
        }
    }
}
