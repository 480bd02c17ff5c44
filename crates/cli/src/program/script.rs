//! Which program a script asks for in its first line.

use super::search_path::{file_name, find, is_executable};
use crate::errors::ProgramError;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The kernel reads at most 256 bytes of a first line.
const MOST_BYTES: u64 = 512;

/// The interpreter of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpreter {
    /// The program that is executed.
    pub program: PathBuf,
    /// The script's first line.
    pub line: String,
}

/// The interpreter that a script's first line asks for, through env(1) if the line says so.
pub fn interpreter_of(script: &Path, on_path: &[PathBuf]) -> Result<Interpreter, ProgramError> {
    let mut start = Vec::new();
    std::fs::File::open(script)
        .and_then(|file| file.take(MOST_BYTES).read_to_end(&mut start))
        .map_err(|e| ProgramError::NotReadable { path: script.into(), why: e.to_string() })?;
    let text = String::from_utf8_lossy(&start);
    let line = text.lines().next().unwrap_or_default().trim_end().to_string();
    let wanted = shebang(&line).ok_or_else(|| ProgramError::NotAProgram { path: script.into() })?;
    let missing = |searched: Vec<PathBuf>| ProgramError::NoInterpreter {
        script: script.into(),
        interpreter: wanted.clone(),
        searched,
    };
    let program = if wanted.contains('/') {
        let file = PathBuf::from(&wanted);
        let directory = file.parent().map(Path::to_path_buf).unwrap_or_default();
        if is_executable(&file) { Ok(file) } else { Err(missing(vec![directory])) }
    } else {
        find(&wanted, on_path).map_err(|_| missing(on_path.to_vec()))
    }?;
    Ok(Interpreter { program, line })
}

/// The program that a `#!` line starts: `#!/usr/bin/env -S FOO=1 python3 -u` starts `python3`.
pub fn shebang(line: &str) -> Option<String> {
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let first = words.next()?;
    if file_name(Path::new(first)) != "env" {
        return Some(first.to_string());
    }
    let mut is_value = false;
    for word in words {
        if std::mem::take(&mut is_value) || word.contains('=') {
            continue;
        }
        match word {
            "-u" | "-C" => is_value = true,
            option if option.starts_with("-S") && option.len() > 2 => return Some(option[2..].to_string()),
            option if option.starts_with('-') => {}
            program => return Some(program.to_string()),
        }
    }
    None
}
