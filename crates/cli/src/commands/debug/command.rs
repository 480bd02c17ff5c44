//! Carries out `evenkeel debug`.

use super::arguments::DebugArguments;
use super::{browser, findings, load};
use crate::errors::{CommandError, DebugError};
use crate::output::{standard_output, terminal};
use crate::program::call_sites::CallSites;
use evenkeel_debug::analysis::Analysis;
use evenkeel_debug::answers::Answers;
use evenkeel_debug::server::DebugServer;
use evenkeel_debug::text;

/// Returns the answers as a text, or serves the page until it is ended.
pub fn debug(arguments: &DebugArguments) -> Result<String, CommandError> {
    let mut sites = CallSites::default();
    let run = load::load(&arguments.trace, &mut sites)?;
    let other = arguments.other.as_deref().map(|other| load::load(other, &mut sites)).transpose()?;
    let mut changed = sites.changed;
    changed.sort();
    changed.dedup();
    for path in changed {
        eprintln!("evenkeel: {path} has changed since the run, so its functions and lines are not shown.");
    }
    let width = terminal::width();
    if arguments.text {
        return Ok(match &other {
            Some(other) => text::comparison(&run, other, width),
            None => text::answers(&Analysis::of(run), width),
        });
    }
    let findings = findings::of(&arguments.trace)?;
    let trace = arguments.trace.display().to_string();
    let analysis = Analysis::of(run);
    let other =
        other.map(|run| (arguments.other.as_ref().unwrap_or(&arguments.trace).display().to_string(), run));
    serve(arguments, Answers::new(trace, analysis, other, findings))
}

fn serve(arguments: &DebugArguments, answers: Answers) -> Result<String, CommandError> {
    let port = arguments.port.unwrap_or(0);
    let server =
        DebugServer::listen(port).map_err(|cause| DebugError::Listen { port, cause: cause.to_string() })?;
    let address = server.address();
    standard_output::print(|out| writeln!(out, "{address}"))?;
    eprintln!("evenkeel: the page is served on this machine, until you end it there or press Ctrl-C.");
    let opened = if arguments.no_open { None } else { browser::open(&address) };
    server.serve(answers);
    drop(opened);
    Ok(String::new())
}
