//! Carries out `evenkeel export`.

use super::arguments::{ExportArguments, ExportFormat};
use super::run_times::RunTimes;
use super::{perfetto, summary};
use crate::errors::{CommandError, FileError};
use crate::launch::call_sites::CallSites;
use crate::launch::trace_folder;
use crate::output::file;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The file of a time line if none is given.
const TIME_LINE: &str = "trace.json.gz";

/// Returns the table, or writes a file and says what to do with it.
pub fn export(arguments: &ExportArguments) -> Result<String, CommandError> {
    let default = if arguments.output.is_some() { ExportFormat::Perfetto } else { ExportFormat::Summary };
    let format = arguments.format.unwrap_or(default);
    let inputs = trace_folder::files(&arguments.trace);
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    file::check_outputs(&[("--output", arguments.output.as_deref())], &inputs)?;
    let run = RunTimes::read(&arguments.trace)?;
    match (format, &arguments.output) {
        (ExportFormat::Summary, None) => Ok(summary::summary(&run)),
        (ExportFormat::Summary, Some(output)) => {
            file::write(output, &summary::summary(&run))?;
            Ok(format!("{} written.\n", output.display()))
        }
        (ExportFormat::Perfetto, output) => {
            let output = output.clone().unwrap_or_else(|| PathBuf::from(TIME_LINE));
            let mut sites = CallSites::default();
            write(&output, |out| perfetto::write(&run, &mut sites, out))?;
            let changed = sites.changed.iter().map(|path| {
                format!("{path} has changed since the run, so its functions and lines are not shown.\n")
            });
            let said: String = changed.collect();
            Ok(format!("{said}{} written: open it in https://ui.perfetto.dev.\n", output.display()))
        }
    }
}

/// Writes a file piece by piece: a time line may be larger than memory.
fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FileError> {
    let is_compressed = path.extension().is_some_and(|extension| extension == "gz");
    let written = File::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        if is_compressed {
            let mut compressed = GzEncoder::new(&mut file, Compression::fast());
            content(&mut compressed)?;
            compressed.finish()?;
        } else {
            content(&mut file)?;
        }
        file.flush()
    });
    written.map_err(|e| FileError::TimeLineNotWritable { path: path.to_path_buf(), why: e.to_string() })
}
