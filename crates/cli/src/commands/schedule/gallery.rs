//! `evenkeel schedule gallery`: the book's page of algorithms, with a picture of each.

use super::arguments::GalleryArguments;
use crate::errors::{CommandError, ScheduleError};
use crate::output::file;
use evenkeel_schedule::picture::gallery::gallery;

/// Writes the page and its pictures, and says how many files there are.
pub fn write_gallery(arguments: &GalleryArguments) -> Result<String, CommandError> {
    let files = gallery()
        .map_err(|error| ScheduleError::Wrong { what: "the gallery".into(), error: Box::new(error) })?;
    for file in &files {
        let path = arguments.directory.join(&file.name);
        if let Some(directory) = path.parent() {
            file::make_directory(directory)?;
        }
        file::write(&path, &file.content)?;
    }
    Ok(format!("{} files written to {}.\n", files.len(), arguments.directory.display()))
}
