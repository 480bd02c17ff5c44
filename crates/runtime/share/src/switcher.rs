//! The process that stops and continues the ranks of one job by the clock.

use crate::connections::{Connections, KNOWN_BYTES, Word, exit, word};
use crate::error::ShareError;
use crate::gang::{ControlGroup, Gang, Mechanism, Root, usable_cores};
use crate::lateness::Lateness;
use crate::priority::raise_priority;
use crate::process_id::ProcessId;
use crate::registry::{Directory, Record, Row, Status};
use crate::roster::{change_list, leave_list};
use crate::timetable::now_ns;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify;
use serde::{Deserialize, Serialize};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// A job, for the processes that switch it.
pub(crate) struct Switched {
    pub(crate) job: u64,
    pub(crate) process: ProcessId,
    pub(crate) mechanism: Mechanism,
    pub(crate) group: Option<ControlGroup>,
    pub(crate) directory: Directory,
    is_verbose: bool,
}

impl Switched {
    /// The job that this process is about to start.
    pub(crate) fn new(
        job: u64,
        mechanism: Mechanism,
        group: Option<ControlGroup>,
        directory: Directory,
        is_verbose: bool,
    ) -> Result<Switched, ShareError> {
        let process = ProcessId::own().ok_or_else(|| {
            ShareError::system("/proc/self/stat")(std::io::Error::from(std::io::ErrorKind::NotFound))
        })?;
        Ok(Switched { job, process, mechanism, group, directory, is_verbose })
    }
}

/// What became of the turns of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SwitchingSummary {
    /// How late turns began and ended. Its count is the number of switches.
    pub lateness: Lateness,
    /// The part of the job's processor time outside of its turns, if it is known.
    pub outside: Option<f64>,
    /// The last quantum, ns.
    pub quantum_ns: u64,
    /// How it was switched.
    pub mechanism: String,
    /// Whether the switcher had real-time priority.
    pub is_real_time: bool,
    /// The switcher's processor time, as a part of the time during which it switched.
    pub processor_share: f64,
}

impl SwitchingSummary {
    /// One line for people.
    pub fn sentence(&self) -> String {
        let switches = self.lateness.switches();
        if switches == 0 {
            return "the job was alone, and was not switched.".into();
        }
        let milliseconds = |ns: u64| ns as f64 / 1e6;
        let outside = self.outside.map_or(String::new(), |part| {
            format!("; {:.1}% of the job's processor time was outside of its turns", part * 100.0)
        });
        let priority = if self.is_real_time { "with" } else { "without" };
        format!(
            "the job took turns: {} of {:.1} ms, by {}. Switches were {:.2} ms late (median), {:.2} ms \
             (99%), {:.2} ms (worst), {priority} real-time priority{outside}. The switcher used {:.2}% of a \
             core.",
            switches / 2,
            milliseconds(self.quantum_ns),
            self.mechanism,
            milliseconds(self.lateness.quantile_ns(0.5)),
            milliseconds(self.lateness.quantile_ns(0.99)),
            milliseconds(self.lateness.max_ns),
            self.processor_share * 100.0
        )
    }
}

/// So many switches are looked at together to find out which quantum can be kept.
const WINDOW: u64 = 256;
/// One turn in so many is measured: reading the kernel's counters takes as long as a switch.
const MEASURED: u64 = 8;
/// At one turn in so many it is looked whether a person has stopped the job.
const PAUSE_LOOKS: u64 = 4;
/// How often it is looked whether a job that a person has stopped goes on.
const PAUSED_LOOK_NS: u64 = 50_000_000;
/// After what time the list is changed if its lock was held by another process.
const RETRY_NS: u64 = 100_000_000;
/// How long a lock is waited for: the turns go on.
const LOCK_PATIENCE: Duration = Duration::from_millis(5);
/// The loop never waits less: an error in what it waits for must not take a core.
const SHORTEST_WAIT_NS: u64 = 20_000;

/// The switcher's state.
struct Switcher {
    switched: Switched,
    gang: Gang,
    record: Record,
    /// The cores that the jobs may use.
    usable: Vec<usize>,
    /// Whether the list cannot be used. Then the job runs on.
    is_lost: bool,
    /// Readable when another job or its switcher has ended.
    others: Vec<OwnedFd>,
    runs: bool,
    is_paused: bool,
    /// When the turn of the job begins or ends next.
    change_at_ns: Option<u64>,
    /// When it is to be looked again at processes that were asleep.
    again_at_ns: Option<u64>,
    /// When the list is to be changed, which was locked.
    retry_at_ns: Option<u64>,
    summary: SwitchingSummary,
    window: Lateness,
    /// The shortest quantum that this process can keep, if it is not the one that stands in the list.
    wanted_quantum_ns: Option<u64>,
    measurement: Measurement,
    report: OwnedFd,
}

/// Processor time of the job in turns and outside of them, by samples.
#[derive(Default)]
struct Measurement {
    turns: u64,
    /// At the first switch: the time, the job's processor time, this process's.
    began: Option<(u64, u64, u64)>,
    stopped_us: Option<u64>,
    outside_us: u64,
}

/// The switcher's process. `warden` is readable when the warden has ended; what is found is written to
/// `report`.
pub(crate) fn run(switched: Switched, connections: Connections, warden: OwnedFd, report: OwnedFd) -> ! {
    let is_real_time = raise_priority();
    let watch =
        inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC).and_then(|fd| {
            inotify::add_watch(&fd, switched.directory.path(), inotify::WatchFlags::MOVED_TO).map(|_| fd)
        });
    let gang = Gang::new(switched.mechanism, Root::new(switched.process.pid), switched.group.clone());
    let (Ok(watch), Ok(gang), Some(process)) = (watch, gang, switched.process.open()) else { exit(1) };
    let mechanism = switched.mechanism.name().into();
    let mut switcher = Switcher {
        switched,
        gang,
        record: Record::default(),
        usable: usable_cores(),
        is_lost: false,
        others: Vec::new(),
        runs: true,
        is_paused: false,
        change_at_ns: None,
        again_at_ns: None,
        retry_at_ns: Some(0),
        summary: SwitchingSummary { mechanism, is_real_time, ..SwitchingSummary::default() },
        window: Lateness::default(),
        wanted_quantum_ns: None,
        measurement: Measurement::default(),
        report,
    };
    switcher.reload();
    let mut control_is_open = true;
    loop {
        let wait = switcher.step().map(|at| at.saturating_sub(now_ns()).max(SHORTEST_WAIT_NS));
        let wait = wait.map(|ns| Timespec { tv_sec: (ns / SECOND) as i64, tv_nsec: (ns % SECOND) as i64 });
        // A process that becomes its launcher closes its end of the pipe: that says nothing.
        let wanted = if control_is_open { PollFlags::IN } else { PollFlags::empty() };
        let control = if control_is_open { connections.control.as_fd() } else { watch.as_fd() };
        let mut fds = vec![PollFd::from_borrowed_fd(control, wanted)];
        let fixed = [process.as_fd(), warden.as_fd(), watch.as_fd()];
        let others = switcher.others.iter().map(AsFd::as_fd);
        fds.extend(fixed.into_iter().chain(others).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        if !poll(&mut fds, wait.as_ref()).is_ok_and(|ready| ready > 0) {
            continue;
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        if ready[0] && control_is_open {
            match word(&connections.control) {
                Word::JobHasEnded => switcher.end(&connections, control_is_open),
                Word::Closed => control_is_open = false,
                Word::None => {}
            }
        }
        if ready[1] {
            switcher.end(&connections, control_is_open);
        }
        if ready[2] {
            switcher.go_on_without_warden(&connections, &process, control_is_open);
        }
        if ready[3] {
            let mut buffer = [0; 4096];
            while rustix::io::read(&watch, &mut buffer).is_ok_and(|read| read > 0) {}
            switcher.reload();
        }
        if ready[4..].contains(&true) {
            switcher.others.clear();
            switcher.retry_at_ns = Some(0);
        }
    }
}

const SECOND: u64 = 1_000_000_000;

impl Switcher {
    /// Does what is due, and returns when the next step is.
    fn step(&mut self) -> Option<u64> {
        if self.retry_at_ns.is_some_and(|at| at <= now_ns()) {
            self.change_list();
        }
        let now = now_ns();
        let job = self.switched.job;
        let table = self.record.timetable(now).filter(|_| !self.is_lost);
        let has_turn = table.is_none_or(|table| table.has_turn(job, now));
        let quantum_ns = table.map_or(0, |table| table.quantum_ns);
        if has_turn != self.runs {
            if let Some(due) = self.change_at_ns.filter(|due| *due <= now) {
                self.summary.lateness.note(now - due);
                self.window.note(now - due);
            }
            if has_turn { self.begin_turn() } else { self.end_turn(now, quantum_ns) }
        } else if !self.runs && self.again_at_ns.is_some_and(|at| at <= now) {
            self.again_at_ns = self.gang.stop().then_some(now + quantum_ns / 2);
            self.tell_warden();
        }
        if self.is_paused {
            self.look_whether_paused();
        }
        let table = self.record.timetable(now).filter(|_| !self.is_lost);
        let announced = self.record.next_timetable(now).map(|table| table.from_ns);
        let change = table.and_then(|table| table.next_change(job, now));
        self.change_at_ns = change.into_iter().chain(announced).min();
        let paused = self.is_paused.then_some(now + PAUSED_LOOK_NS);
        [self.change_at_ns, self.again_at_ns, self.retry_at_ns, paused].into_iter().flatten().min()
    }

    fn begin_turn(&mut self) {
        self.runs = true;
        self.again_at_ns = None;
        if let Some(stopped) = self.measurement.stopped_us.take() {
            let used = self.gang.processor_time_us().map_or(0, |used| used.saturating_sub(stopped));
            self.measurement.outside_us += used * MEASURED;
        }
        self.gang.go_on();
        self.tell_warden();
        if self.measurement.turns % PAUSE_LOOKS == 0 {
            self.look_whether_paused();
        }
        if self.window.switches() >= WINDOW {
            self.choose_quantum();
        }
    }

    fn end_turn(&mut self, now: u64, quantum_ns: u64) {
        self.runs = false;
        self.summary.quantum_ns = quantum_ns;
        self.measurement.turns += 1;
        if self.measurement.began.is_none() {
            let used = self.gang.processor_time_us().unwrap_or(0);
            self.measurement.began = Some((now, used, own_processor_time_us()));
        }
        let some_sleep = self.gang.stop();
        if self.measurement.turns % MEASURED == 0 {
            self.measurement.stopped_us = self.gang.processor_time_us();
        }
        self.again_at_ns = some_sleep.then_some(now + quantum_ns / 2);
        self.tell_warden();
    }

    /// Tells the warden which processes it has to let go on if this one dies.
    fn tell_warden(&mut self) {
        for found in self.gang.take_new() {
            let mut bytes = [0; KNOWN_BYTES];
            bytes[..4].copy_from_slice(&found.pid.to_ne_bytes());
            bytes[4..].copy_from_slice(&found.started.to_ne_bytes());
            // If the warden has died, the next wait tells.
            let _ = rustix::io::write(&self.report, &bytes);
        }
    }

    /// A job that a person has stopped leaves its turns to the others.
    fn look_whether_paused(&mut self) {
        let is_stopped = self.switched.process.is_stopped();
        if is_stopped != self.is_paused {
            self.is_paused = is_stopped;
            self.retry_at_ns = Some(0);
        }
    }

    /// Asks for a longer quantum if this process is too late for the one that is, and for a shorter one again
    /// when it is not.
    fn choose_quantum(&mut self) {
        let floor = self.switched.mechanism.shortest_quantum_ns();
        let wanted = std::mem::take(&mut self.window).shortest_quantum_ns().max(floor);
        let Some(row) = self.record.row(self.switched.job) else { return };
        let now = row.shortest_quantum_ns;
        let matters = wanted.max(now) > row.quantum_ns;
        if matters && (wanted > now + now / 4 || wanted < now / 2) {
            self.wanted_quantum_ns = Some(wanted);
            self.retry_at_ns = Some(0);
        }
    }

    /// Brings the list up to date: this job's row, and jobs that have ended without leaving.
    fn change_list(&mut self) {
        self.retry_at_ns = None;
        let status = if self.is_paused { Status::Paused } else { Status::Placed };
        let wanted = self.wanted_quantum_ns;
        let own = ProcessId::own();
        let change = |row: &mut Row| {
            row.switcher = own;
            row.status = status;
            row.shortest_quantum_ns = wanted.unwrap_or(row.shortest_quantum_ns);
        };
        match change_list(&self.switched.directory, LOCK_PATIENCE, self.switched.job, change) {
            Ok(()) => {}
            Err(ShareError::Locked { .. }) => self.retry_at_ns = Some(now_ns() + RETRY_NS),
            Err(error) => self.lose(&error),
        }
        self.reload();
    }

    /// Reads the list.
    fn reload(&mut self) {
        match self.switched.directory.read() {
            Ok(record) => {
                self.record = record;
                self.is_lost = false;
            }
            Err(error) => return self.lose(&error),
        }
        let own = self.record.row(self.switched.job).map_or(&[][..], |row| &row.cores);
        self.gang.set_cores(own.iter().filter_map(|core| self.usable.get(*core).copied()).collect());
        let (mut others, mut some_have_ended) = (Vec::new(), false);
        for row in self.record.jobs.iter().filter(|row| row.job != self.switched.job) {
            let switcher = row.switcher.filter(|_| row.status != Status::Unswitched);
            for process in switcher.into_iter().chain([row.process]) {
                match process.open() {
                    Some(fd) => others.push(fd),
                    None => some_have_ended = true,
                }
            }
        }
        self.others = others;
        if some_have_ended {
            // Its own warden is about to tell.
            self.retry_at_ns.get_or_insert(now_ns() + RETRY_NS);
        }
    }

    /// The list cannot be used: the job runs on without turns.
    fn lose(&mut self, error: &ShareError) {
        if !self.is_lost {
            eprintln!("evenkeel: this job takes no turns any more: {error}");
        }
        self.is_lost = true;
    }

    /// The job has ended.
    fn end(&mut self, connections: &Connections, starter_listens: bool) -> ! {
        self.gang.release(&[]);
        leave_list(&self.switched.directory, self.switched.job);
        self.finish_summary();
        if starter_listens {
            let text = serde_json::to_vec(&self.summary).expect("summaries consist of plain data");
            // If no process listens, the job's process has been killed.
            let _ = rustix::io::write(&connections.summary, &text);
        } else if self.switched.is_verbose {
            eprintln!("evenkeel: {}", self.summary.sentence());
        }
        exit(0)
    }

    /// Without a warden no process would let the ranks go on if this one died too.
    fn go_on_without_warden(&mut self, connections: &Connections, process: &OwnedFd, listens: bool) -> ! {
        self.gang.release(&[]);
        eprintln!(
            "evenkeel: the process that watches over this job's switcher has died; the ranks run on, and \
             take no turns with other jobs any more."
        );
        let job = self.switched.job;
        let unswitched = |row: &mut Row| row.status = Status::Unswitched;
        let _ = change_list(&self.switched.directory, LOCK_PATIENCE, job, unswitched);
        let mut control_is_open = listens;
        while self.switched.process.is_alive() {
            let mut fds = vec![PollFd::new(process, PollFlags::IN)];
            if control_is_open {
                fds.push(PollFd::new(&connections.control, PollFlags::IN));
            }
            let _ = poll(&mut fds, None);
            if control_is_open {
                match word(&connections.control) {
                    Word::JobHasEnded => break,
                    Word::Closed => control_is_open = false,
                    Word::None => {}
                }
            }
        }
        if let Some(group) = &self.switched.group {
            group.remove_within(Duration::from_millis(100));
        }
        self.end(connections, control_is_open)
    }

    fn finish_summary(&mut self) {
        let Some((began_ns, began_us, own_us)) = self.measurement.began else { return };
        let elapsed_us = (now_ns() - began_ns) as f64 / 1000.0;
        self.summary.processor_share = (own_processor_time_us() - own_us) as f64 / elapsed_us.max(1.0);
        let used = self.gang.processor_time_us().map(|used| used.saturating_sub(began_us));
        let outside = self.measurement.outside_us as f64;
        self.summary.outside = used.filter(|used| *used > 0).map(|used| (outside / used as f64).min(1.0));
    }
}

fn own_processor_time_us() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1000
}
