//! All stacks of a process.

use crate::elf_file::ElfFile;
use crate::error::StackError;
use crate::frame::{Frame, ProcessStacks, ThreadStack};
use crate::memory_map::{self, Mapping};
use crate::python::{self, Interpreter};
use crate::stopped::{self, Snapshot};
use crate::threads::{self, Thread};
use crate::unwinding::{self, MappedFile};
use std::collections::HashMap;
use std::rc::Rc;

/// Of threads besides the first one, so many are looked at, if they run.
const MOST_OTHERS: usize = 3;

/// Functions in which threads begin.
const BEGINNINGS: [&str; 6] = ["main", "_start", "clone", "clone3", "start_thread", "__clone"];

/// Looks at processes, and keeps what it has read of their programs and libraries: ranks of a job have most
/// of them in common.
#[derive(Default)]
pub struct Observer {
    files: HashMap<String, Option<Rc<ElfFile>>>,
}

impl Observer {
    /// The stacks of the first thread of a process, and of others that run.
    ///
    /// # Errors
    ///
    /// If the first thread cannot be stopped.
    pub fn look(&mut self, pid: u32) -> Result<ProcessStacks, StackError> {
        let threads = threads::of_process(pid);
        let Some((first, others)) = threads.split_first() else { return Err(StackError::Gone) };
        let mappings = memory_map::of_process(pid);
        let mut interpreter = Interpreter::of(pid, &mappings);
        let mut stacks = ProcessStacks::default();
        if let Some(Err(problem)) = &interpreter {
            stacks.python_problem = Some(problem.clone());
        }
        let files = self.mapped_files(pid, &mappings);
        let unwinder = unwinding::unwinder(&files);
        let running: Vec<&Thread> =
            others.iter().filter(|thread| thread.state == 'R').take(MOST_OTHERS).collect();
        stacks.sleeping = others.iter().filter(|thread| thread.state != 'R').count();
        for thread in std::iter::once(first).chain(running) {
            let is_first = thread.tid == first.tid;
            let snapshot = match snapshot(pid, *thread, &mappings, &mut interpreter) {
                Ok(snapshot) => snapshot,
                Err(error) if is_first => return Err(error),
                Err(_) => continue,
            };
            let addresses =
                unwinding::unwind(&unwinder, &snapshot.registers, snapshot.stack_start, &snapshot.stack);
            let native = addresses.into_iter().flat_map(|address| frames_at(&files, address)).collect();
            let python = match snapshot.seen {
                Some(Ok(traces)) => python::frames_of_thread(&traces, thread.tid, is_first),
                Some(Err(problem)) => {
                    stacks.python_problem = Some(problem);
                    Vec::new()
                }
                None => Vec::new(),
            };
            let (native, is_complete) = without_beginning(native);
            stacks.threads.push(ThreadStack {
                tid: thread.tid,
                is_complete: is_complete || !python.is_empty(),
                frames: python::merged(native, python),
                stood_still: snapshot.stood_still,
            });
        }
        Ok(stacks)
    }

    fn mapped_files(&mut self, pid: u32, mappings: &[Mapping]) -> Vec<MappedFile> {
        let code = mappings.iter().filter(|mapping| mapping.is_executable && mapping.is_of_file());
        code.filter_map(|mapping| MappedFile::new(mapping, self.file(pid, mapping)?)).collect()
    }

    fn file(&mut self, pid: u32, mapping: &Mapping) -> Option<Rc<ElfFile>> {
        let open = || mapping.ways_to_file(pid).iter().find_map(|path| ElfFile::open(path)).map(Rc::new);
        self.files.entry(mapping.file.clone()).or_insert_with(open).clone()
    }
}

type Traces = Option<Result<Vec<py_spy::StackTrace>, String>>;

fn snapshot(
    pid: u32,
    thread: Thread,
    mappings: &[Mapping],
    interpreter: &mut Option<Result<Interpreter, String>>,
) -> Result<Snapshot<Traces>, StackError> {
    match threads::lasting_state(pid, thread.tid) {
        Some('D') => {
            return Err(StackError::Uninterruptible { place: threads::kernel_function(pid, thread.tid) });
        }
        Some('Z' | 'X') | None => return Err(StackError::Gone),
        _ => {}
    }
    let stack_of = |stack_pointer| memory_map::stack_at(mappings, stack_pointer);
    let python = || match interpreter {
        Some(Ok(interpreter)) => Some(interpreter.stacks()),
        _ => None,
    };
    stopped::snapshot(pid, thread.tid, stack_of, python)
}

fn frames_at(files: &[MappedFile], address: u64) -> Vec<Frame> {
    let Some(mapped) = files.iter().find(|mapped| mapped.range.contains(&address)) else { return Vec::new() };
    mapped.file.frames(address.wrapping_sub(mapped.bias), &mapped.name)
}

/// Without what calls `main`, or the function of a thread. Whether the beginning was found.
fn without_beginning(mut frames: Vec<Frame>) -> (Vec<Frame>, bool) {
    let beginning = |frame: &Frame| frame.function.as_deref().is_some_and(|name| BEGINNINGS.contains(&name));
    let Some(at) = frames.iter().position(beginning) else { return (frames, false) };
    let is_main = frames[at].function.as_deref() == Some("main");
    frames.truncate(if is_main { at + 1 } else { at });
    (frames, true)
}
