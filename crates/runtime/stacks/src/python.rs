//! Frames of CPython, read from its memory by py-spy.

use crate::frame::{Frame, Language};
use crate::memory_map::Mapping;
use py_spy::config::LockingStrategy;
use py_spy::{Config, PythonSpy, StackTrace};

/// An interpreter in another process.
pub(crate) struct Interpreter {
    spy: PythonSpy,
}

/// Files in which CPython is.
pub(crate) fn is_interpreter(file_name: &str) -> bool {
    file_name.starts_with("python") || file_name.starts_with("libpython")
}

impl Interpreter {
    /// Finds the interpreter of a process; None if it has none. The error is the end of a sentence.
    pub(crate) fn of(pid: u32, mappings: &[Mapping]) -> Option<Result<Interpreter, String>> {
        if !mappings.iter().any(|mapping| mapping.is_of_file() && is_interpreter(mapping.short_name())) {
            return None;
        }
        // The thread is stopped by us, not by py-spy: it is stopped once for everything.
        let config = Config { blocking: LockingStrategy::NonBlocking, ..Config::default() };
        let spy = PythonSpy::new(pid as i32, &config);
        Some(spy.map(|spy| Interpreter { spy }).map_err(|error| root_cause(&error.to_string())))
    }

    /// The stacks of all threads that run Python.
    pub(crate) fn stacks(&mut self) -> Result<Vec<StackTrace>, String> {
        self.spy.get_stack_traces().map_err(|error| root_cause(&error.to_string()))
    }
}

/// Without a full stop, for the middle of a sentence.
fn root_cause(text: &str) -> String {
    text.trim().trim_end_matches('.').to_string()
}

/// The frames of one thread, innermost first. `is_first`: it is the first thread of the process.
pub(crate) fn frames_of_thread(stacks: &[StackTrace], tid: u32, is_first: bool) -> Vec<Frame> {
    let is_it = |stack: &&StackTrace| stack.os_thread_id == Some(u64::from(tid));
    // Before 3.11 CPython does not know the kernel's numbers; the oldest thread is the last of its list.
    let oldest = || stacks.last().filter(|stack| is_first && stack.os_thread_id.is_none());
    let Some(stack) = stacks.iter().find(is_it).or_else(oldest) else { return Vec::new() };
    stack.frames.iter().map(frame).collect()
}

fn frame(frame: &py_spy::Frame) -> Frame {
    Frame {
        language: Language::Python,
        function: Some(frame.name.clone()),
        file: Some(frame.filename.clone()),
        line: u32::try_from(frame.line).ok().filter(|line| *line > 0),
        module: None,
    }
}

/// Puts the frames of Python in the place of the interpreter's own: what the interpreter has called, then
/// Python. What has called the interpreter is left out.
pub(crate) fn merged(native: Vec<Frame>, python: Vec<Frame>) -> Vec<Frame> {
    if python.is_empty() {
        return native;
    }
    let is_of_interpreter = |frame: &Frame| frame.module.as_deref().is_some_and(is_interpreter);
    let called = native.into_iter().take_while(|frame| !is_of_interpreter(frame));
    called.chain(python).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn native(function: &str, module: &str) -> Frame {
        Frame {
            language: Language::Native,
            function: Some(function.into()),
            file: None,
            line: None,
            module: Some(module.into()),
        }
    }

    #[test]
    fn python_stands_in_the_place_of_its_interpreter() {
        let python = vec![Frame { language: Language::Python, ..native("solve", "") }];
        let stack = ["read", "_io_read", "_PyEval_EvalFrameDefault", "main"]
            .iter()
            .zip(["libc.so.6", "python3.11", "libpython3.11.so.1.0", "python3.11"])
            .map(|(function, module)| native(function, module))
            .collect::<Vec<_>>();
        let names = |frames: Vec<Frame>| frames.into_iter().filter_map(|f| f.function).collect::<Vec<_>>();
        assert_eq!(names(merged(stack.clone(), python)), ["read", "solve"]);
        assert_eq!(merged(stack.clone(), Vec::new()), stack);
    }
}
