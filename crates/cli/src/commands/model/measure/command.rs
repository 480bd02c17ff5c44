//! Carries out `evenkeel model measure`.

use super::super::arguments::MeasureArguments;
use super::{hosts, local, plot, text};
use crate::errors::CommandError;
use crate::output::{file, terminal};

/// Measures, writes the files that were asked for, and returns what is printed.
pub fn measure(arguments: &MeasureArguments) -> Result<String, CommandError> {
    file::check_outputs(&[("--json", arguments.json.as_deref()), ("--svg", arguments.svg.as_deref())], &[])?;
    let found = match arguments.hosts.is_empty() {
        true => local::measure(arguments)?,
        false => hosts::measure(arguments)?,
    };
    let mut printed = text::text(&found, terminal::width());
    if let Some(json) = &arguments.json {
        file::write_json(json, &found)?;
        let json = json.display();
        printed += &format!("\n{json} written. What barriers would take: evenkeel model show {json}\n");
    }
    if let Some(picture) = &arguments.svg {
        file::write(picture, &plot::svg(&found)?)?;
        printed += &format!("\n{}\n", file::written_for_browser(picture));
    }
    Ok(printed)
}
