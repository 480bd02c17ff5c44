//! Standard output: what cannot be written there is an error, unless no process reads it.

use crate::errors::FileError;
use std::io::{self, ErrorKind, Write};

/// Writes all that `write` writes. A reader that closes the pipe early, as in `evenkeel doctor | head`, is no
/// error.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FileError> {
    let mut out = io::stdout();
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(FileError::StandardOutput(error)),
        _ => Ok(()),
    }
}
