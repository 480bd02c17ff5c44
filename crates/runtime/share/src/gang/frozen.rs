//! Switching by `cgroup.freeze`. Each process that is found has a group of its own, with what it starts, so
//! that those that sleep can be left alone.

use super::control_group::{ControlGroup, numbers};
use super::processes::{LikelyThread, Root, Running, look, running};
use super::steering::go_on_at;
use crate::timetable::now_ns;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// With more groups all are frozen at once: looking at each would take too long.
const MOST_SINGLE: usize = 16;

/// How often new processes are looked for, ns: seldom if there were none.
const LOOK_NS: std::ops::RangeInclusive<u64> = 20_000_000..=320_000_000;

/// A group with one process that was found.
struct Leaf {
    directory: PathBuf,
    pid: i32,
    freeze: File,
    threads: File,
    is_frozen: bool,
    /// The thread that ran when it was frozen, if it was the only one.
    only_running: Option<i32>,
    likely: Option<LikelyThread>,
}

/// The processes of a job.
pub(crate) struct FrozenGang {
    root: Root,
    group: ControlGroup,
    leaves: Vec<Leaf>,
    /// For all at once.
    all: Option<File>,
    all_are_frozen: bool,
    usage: Option<File>,
    /// Where the processes go on.
    pub(super) cores: Vec<usize>,
    looked_at_ns: u64,
    look_after_ns: u64,
}

impl FrozenGang {
    pub(crate) fn new(root: Root, group: ControlGroup) -> FrozenGang {
        let ranks = group.ranks();
        FrozenGang {
            root,
            all: File::options().write(true).open(ranks.join("cgroup.freeze")).ok(),
            all_are_frozen: false,
            usage: File::open(ranks.join("cpu.stat")).ok(),
            leaves: Vec::new(),
            group,
            cores: Vec::new(),
            looked_at_ns: 0,
            look_after_ns: *LOOK_NS.start(),
        }
    }

    pub(crate) fn stop(&mut self) -> bool {
        self.look_for_new();
        if self.leaves.len() > MOST_SINGLE {
            if !self.all_are_frozen {
                self.all_are_frozen = write(self.all.as_ref(), true);
            }
            return false;
        }
        let mut some_sleep = false;
        for leaf in self.leaves.iter_mut().filter(|leaf| !leaf.is_frozen) {
            match look(&mut leaf.likely, || all_running(&leaf.threads)) {
                Running::None => some_sleep = true,
                running => {
                    leaf.only_running = running.only();
                    leaf.is_frozen = write(Some(&leaf.freeze), true);
                }
            }
        }
        some_sleep
    }

    pub(crate) fn go_on(&mut self) {
        if self.all_are_frozen {
            self.all_are_frozen = !write(self.all.as_ref(), false);
        }
        let cores = self.cores.iter().cycle().map(Some).chain(std::iter::repeat(None));
        for (leaf, core) in self.leaves.iter_mut().zip(cores).filter(|(leaf, _)| leaf.is_frozen) {
            let mut go_on = || leaf.is_frozen = !write(Some(&leaf.freeze), false);
            match (leaf.only_running, core) {
                (Some(thread), Some(core)) => go_on_at(thread, *core, go_on),
                _ => go_on(),
            }
        }
        self.look_for_new();
    }

    pub(crate) fn release(&mut self) {
        self.all_are_frozen = false;
        self.leaves.iter_mut().for_each(|leaf| leaf.is_frozen = false);
        self.group.thaw_all();
    }

    pub(crate) fn processor_time_us(&self) -> Option<u64> {
        let mut text = [0; 64];
        let read = self.usage.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..read]).ok()?;
        text.lines().next()?.strip_prefix("usage_usec ")?.parse().ok()
    }

    /// Gives processes that a launcher has started groups of their own.
    fn look_for_new(&mut self) {
        let now = now_ns();
        if now < self.looked_at_ns + self.look_after_ns {
            return;
        }
        let before = self.leaves.len();
        let found = ControlGroup::processes(self.group.directory());
        for pid in found.into_iter().filter(|pid| !self.root.is_launcher(*pid)) {
            // It may have ended meanwhile.
            self.leaves.extend(Leaf::with(&self.group, pid));
        }
        let has_new = self.leaves.len() > before;
        self.leaves.retain(|leaf| !leaf.has_ended());
        self.looked_at_ns = now;
        self.look_after_ns =
            if has_new { *LOOK_NS.start() } else { (self.look_after_ns * 2).min(*LOOK_NS.end()) };
    }
}

impl Leaf {
    /// A new group with this process.
    fn with(group: &ControlGroup, pid: i32) -> Option<Leaf> {
        let directory = group.ranks().join(pid.to_string());
        std::fs::create_dir(&directory)
            .or_else(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => Ok(()),
                _ => Err(error),
            })
            .ok()?;
        let open = || {
            let freeze = File::options().write(true).open(directory.join("cgroup.freeze"))?;
            Ok((freeze, File::open(directory.join("cgroup.threads"))?))
        };
        let opened: std::io::Result<(File, File)> = open();
        match opened.and_then(|files| group.add(&directory, pid).map(|()| files)) {
            Ok((freeze, threads)) => Some(Leaf {
                directory,
                pid,
                freeze,
                threads,
                is_frozen: false,
                only_running: None,
                likely: None,
            }),
            Err(_) => {
                let _ = std::fs::remove_dir(&directory);
                None
            }
        }
    }

    /// Whether nothing is left in it. Then it is removed.
    fn has_ended(&self) -> bool {
        let leader = format!("/proc/{}", self.pid);
        !std::path::Path::new(&leader).exists() && std::fs::remove_dir(&self.directory).is_ok()
    }
}

/// The threads of a group that run, or are ready to. None: that cannot be told.
fn all_running(list: &File) -> Option<Vec<i32>> {
    const MOST: usize = 4096;
    let mut text = [0; MOST];
    match list.read_at(&mut text, 0) {
        Ok(MOST) | Err(_) => None, // more than fit
        Ok(read) => {
            let threads = numbers(std::str::from_utf8(&text[..read]).unwrap_or_default());
            Some(running(threads))
        }
    }
}

/// Returns whether it was written.
fn write(freeze: Option<&File>, frozen: bool) -> bool {
    freeze.is_some_and(|file| file.write_at(if frozen { b"1" } else { b"0" }, 0).is_ok())
}
