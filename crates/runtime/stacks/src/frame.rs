//! What a stack consists of.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// C, C++, Fortran, or whatever else the processor executes.
    Native,
    /// Python.
    Python,
}

/// A function that has been called and has not returned.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// See [`Language`].
    pub language: Language,
    /// Its name, without the arguments' types; None if the program or library does not say.
    pub function: Option<String>,
    /// The source, as the compiler or interpreter knew it.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
    /// File name of the program or library; None for Python.
    pub module: Option<String>,
}

/// The stack of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadStack {
    /// Its number.
    pub tid: u32,
    /// From the innermost function to the outermost.
    pub frames: Vec<Frame>,
    /// Whether the outermost frame is the beginning of the thread.
    pub is_complete: bool,
    /// For how long the thread stood still for this.
    pub stood_still: Duration,
}

/// The stacks of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessStacks {
    /// The first thread, and others that run.
    pub threads: Vec<ThreadStack>,
    /// How many threads there are besides: they sleep.
    pub sleeping: usize,
    /// Why there are no frames of Python, although the process runs it.
    pub python_problem: Option<String>,
}
