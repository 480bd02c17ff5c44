//! `--svg` and `--transcript`: what each rank does when.

use super::arguments::SimulateArguments;
use crate::errors::{CommandError, SimulationError};
use crate::output::file;
use evenkeel_schedule_sim::{Recording, space_time_diagram};

/// The most ranks that a picture can show.
const MOST_RANKS: u32 = 64;

/// Writes picture and transcript, and returns what is printed about them.
pub fn write(
    arguments: &SimulateArguments,
    recording: &Recording,
    ranks: u32,
) -> Result<String, CommandError> {
    if ranks > MOST_RANKS {
        return Err(SimulationError::TooManyRanksToDraw { ranks, most: MOST_RANKS }.into());
    }
    let mut written = String::new();
    if let Some(picture) = &arguments.svg {
        let title = format!("{}, {ranks} ranks", arguments.schedules[0]);
        file::write(picture, &space_time_diagram(recording, ranks, &title))?;
        written += &format!("\n{}\n", file::written_for_browser(picture));
    }
    if let Some(transcript) = &arguments.transcript {
        file::write(transcript, &recording.transcript())?;
    }
    Ok(written)
}
