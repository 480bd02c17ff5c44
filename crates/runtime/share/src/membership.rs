//! A job joins those that take turns, waits for its place, and leaves.

use crate::error::ShareError;
use crate::gang::{ControlGroup, Mechanism};
use crate::plan::MOST_WEIGHT;
use crate::process_id::ProcessId;
use crate::registry::{Directory, Row, Status};
use crate::roster::{self, change_list, leave_list};
use crate::switcher::{Switched, SwitchingSummary};
use crate::timetable::MIN_QUANTUM_NS;
use crate::warden::{self, Warden};
use std::path::PathBuf;
use std::time::Duration;
use tracing::debug;

/// What a job asks for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The number of its ranks.
    pub ranks: u32,
    /// The memory that it needs; 0: it is not counted.
    pub memory_bytes: u64,
    /// Its share in relation to the others', 1 to 100.
    pub rate: u32,
    /// How long a slot is to be, ns.
    pub quantum_ns: u64,
    /// How it is to be switched; None: as well as it works here.
    pub mechanism: Option<Mechanism>,
    /// XDG_RUNTIME_DIR.
    pub runtime_directory: Option<PathBuf>,
    /// Whether a line about the switching is printed when the job has ended and no process is left to ask.
    pub is_verbose: bool,
}

/// How a job waits for its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its position in the queue, from 1.
    pub position: usize,
}

/// A job that takes turns, seen from the process that starts it.
#[derive(Debug)]
pub struct Membership {
    warden: Warden,
    job: u64,
    directory: Directory,
    group: Option<ControlGroup>,
}

/// How long the list's lock is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a job that waits looks whether others have died without leaving.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Joins. Returns when the job has its place; then this process must start it, or become its launcher, or
/// end. `tell` is called when it has to wait, and when its position changes.
///
/// Must be called while this process has one thread.
///
/// # Errors
///
/// If the list cannot be used, the mechanism does not work, or the job never fits.
pub fn join(request: &Request, mut tell: impl FnMut(Waiting)) -> Result<Membership, ShareError> {
    let directory = Directory::of_this_user(request.runtime_directory.as_deref())?;
    let mut mechanism = Mechanism::choose(request.mechanism)?;
    let group = match mechanism {
        Mechanism::Freeze => match ControlGroup::make() {
            Ok(group) => Some(group),
            Err(why) if request.mechanism.is_some() => {
                return Err(ShareError::Mechanism { mechanism: mechanism.name(), why: why.to_string() });
            }
            Err(why) => {
                debug!("no control group: {why}");
                mechanism = Mechanism::Stop;
                None
            }
        },
        Mechanism::Stop | Mechanism::Demote => None,
    };
    let row = row(request, mechanism, group.as_ref());
    let joined = row.and_then(|row| roster::enter(&directory, row)).and_then(|job| {
        let entered = wait_for_place(&directory, job, &mut tell).and_then(|()| {
            let switched =
                Switched::new(job, mechanism, group.clone(), directory.clone(), request.is_verbose)?;
            let warden = warden::start(switched)?;
            if let Some(group) = &group {
                group.enter().map_err(ShareError::system("cgroup.procs"))?;
            }
            Ok((job, warden))
        });
        if entered.is_err() {
            leave_list(&directory, job);
        }
        entered
    });
    match joined {
        Ok((job, warden)) => Ok(Membership { warden, job, directory, group }),
        Err(error) => {
            if let Some(group) = group {
                group.remove_within(Duration::ZERO);
            }
            Err(error)
        }
    }
}

impl Membership {
    /// The job has ended. Returns what its switcher has to tell.
    pub fn finish(self) -> Option<SwitchingSummary> {
        if let Some(group) = &self.group {
            group.leave();
        }
        let summary = self.warden.finish();
        if summary.is_none() {
            // Both of its processes have been killed.
            leave_list(&self.directory, self.job);
            if let Some(group) = &self.group {
                group.remove_within(Duration::from_millis(100));
            }
        }
        summary
    }
}

fn wait_for_place(directory: &Directory, job: u64, tell: &mut impl FnMut(Waiting)) -> Result<(), ShareError> {
    let mut told = None;
    loop {
        let Some(position) = directory.read()?.position(job) else { return Ok(()) };
        if told != Some(position) {
            tell(Waiting { position });
            told = Some(position);
        }
        std::thread::sleep(LOOK_EVERY);
        change_list(directory, PATIENCE, job, |_| {})?;
    }
}

/// What stands in the list of a job that this process is about to start. Its number is still to be given.
fn row(request: &Request, mechanism: Mechanism, group: Option<&ControlGroup>) -> Result<Row, ShareError> {
    let process = ProcessId::own().ok_or_else(|| {
        ShareError::system("/proc/self/stat")(std::io::Error::from(std::io::ErrorKind::NotFound))
    })?;
    Ok(Row {
        job: 0,
        process,
        switcher: None,
        ranks: request.ranks.max(1),
        memory_bytes: request.memory_bytes,
        rate: request.rate.clamp(1, MOST_WEIGHT),
        quantum_ns: request.quantum_ns.max(MIN_QUANTUM_NS),
        shortest_quantum_ns: mechanism.shortest_quantum_ns(),
        mechanism: mechanism.name().into(),
        group: group.map(|group| group.directory().to_path_buf()),
        status: Status::Queued,
        cores: Vec::new(),
    })
}
