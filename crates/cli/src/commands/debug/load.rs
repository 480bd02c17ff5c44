//! Reads a trace for the analysis.

use crate::errors::FileError;
use crate::launch::trace_folder;
use crate::program::call_sites::{CallSite, CallSites};
use evenkeel_debug::build::RunBuilder;
use evenkeel_debug::run::{CodePlace, Run};
use std::path::Path;

/// The run of a folder, with the places in the program as far as its files say.
pub(super) fn load(folder: &Path, sites: &mut CallSites) -> Result<Run, FileError> {
    let mut builder = RunBuilder::default();
    trace_folder::each_times(folder, |times| builder.add(&times))?;
    let mut run = builder.finish();
    let place = |CallSite { name, file, line }| CodePlace { name, file, line };
    run.places = sites.look_up(&run.sites, &run.modules).into_iter().map(place).collect();
    Ok(run)
}
