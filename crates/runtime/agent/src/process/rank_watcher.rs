//! A thread that sleeps until ranks end, and notes when that was.
//!
//! The agent's loop may be polling, or without a core, when a rank dies. This thread does nothing but
//! sleep, so the end of a process wakes it; what passes until it gets a core is taken off the time that it
//! notes.

use crate::process::run_delay::RunDelay;
use evenkeel_segment::process::WatchedProcess;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

/// The most ends that are noted at once.
const AT_ONCE: usize = 64;

/// The ends that have been noted, and how the loop is told.
struct Ends {
    /// Is readable while a process has ended whose end has not been noted.
    processes: OwnedFd,
    /// Is readable while an end has been noted that has not been taken.
    noted: File,
    /// Place and time of the day, in the order of the ends.
    ends: Mutex<Vec<(usize, u64)>>,
}

/// The thread, as the loop sees it.
pub struct RankWatcher {
    ends: Arc<Ends>,
}

impl RankWatcher {
    /// Starts the thread. Processes are known by their places.
    ///
    /// # Errors
    /// If the kernel has no descriptor or thread left.
    pub fn start(pids: Vec<u32>) -> io::Result<RankWatcher> {
        // SAFETY: no memory is passed; the descriptors, if any, belong to nothing else.
        let (processes, noted) = unsafe {
            let flags = libc::EFD_CLOEXEC | libc::EFD_NONBLOCK;
            (owned(libc::epoll_create1(libc::EPOLL_CLOEXEC))?, owned(libc::eventfd(0, flags))?)
        };
        let watched: Vec<WatchedProcess> = pids.into_iter().map(WatchedProcess::new).collect();
        for (place, process) in watched.iter().enumerate() {
            let Some(fd) = process.descriptor() else { continue };
            let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: place as u64 };
            // SAFETY: open descriptors, and an event that outlives the call.
            if unsafe { libc::epoll_ctl(processes.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &mut event) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        let ends = Arc::new(Ends { processes, noted: noted.into(), ends: Mutex::default() });
        let shared = Arc::clone(&ends);
        std::thread::Builder::new().name("rank-watcher".into()).spawn(move || watch(&shared, watched))?;
        Ok(RankWatcher { ends })
    }

    /// A descriptor that is readable while there are ends to take.
    pub fn descriptor(&self) -> RawFd {
        self.ends.noted.as_raw_fd()
    }

    /// Takes the ends of all processes that have ended before this call: places, and times of the day in
    /// nanoseconds, in the order of the ends.
    pub fn take(&self) -> Vec<(usize, u64)> {
        while self.ends.is_behind() {
            std::thread::yield_now(); // the thread is ready to run
        }
        let mut count = [0; 8];
        let _ = (&self.ends.noted).read(&mut count); // fails if there is nothing to take
        std::mem::take(&mut self.ends.ends.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Ends {
    /// Whether a process has ended whose end has not been noted.
    fn is_behind(&self) -> bool {
        let mut watched = libc::pollfd { fd: self.processes.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid entry, no waiting.
        unsafe { libc::poll(&mut watched, 1, 0) == 1 }
    }
}

/// Sleeps until processes end, for ever.
fn watch(ends: &Ends, processes: Vec<WatchedProcess>) {
    let mut processes: Vec<Option<WatchedProcess>> = processes.into_iter().map(Some).collect();
    let delay = RunDelay::of_this_thread();
    let mut last_ns = 0;
    loop {
        let before_ns = delay.so_far_ns();
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; AT_ONCE];
        // SAFETY: room for as many events as are asked for.
        let count =
            unsafe { libc::epoll_wait(ends.processes.as_raw_fd(), events.as_mut_ptr(), AT_ONCE as i32, -1) };
        let (now_ns, delay_ns) = at_one_time(time_of_day_ns, || delay.so_far_ns());
        let seen_ns = seen_at(now_ns, delay_ns.saturating_sub(before_ns), last_ns);
        last_ns = seen_ns;
        for event in &events[..usize::try_from(count).unwrap_or(0)] {
            let place = event.u64 as usize;
            ends.ends.lock().unwrap_or_else(PoisonError::into_inner).push((place, seen_ns));
            processes[place] = None; // closes the descriptor, which is no longer watched then
        }
        let _ = (&ends.noted).write(&1u64.to_ne_bytes()); // cannot be full
    }
}

/// When an end was seen by a thread that runs at `now_ns` and has been without a core for `delay_ns` since it
/// looked last. A part of that delay may lie before the end, which came after all that were seen earlier.
fn seen_at(now_ns: u64, delay_ns: u64, last_ns: u64) -> u64 {
    now_ns.saturating_sub(delay_ns).max(last_ns)
}

/// The time, and the delay until then: without one in between.
fn at_one_time(time: impl Fn() -> u64, delay: impl Fn() -> u64) -> (u64, u64) {
    let mut before_ns = delay();
    loop {
        let now_ns = time();
        let delay_ns = delay();
        if delay_ns == before_ns {
            return (now_ns, delay_ns);
        }
        before_ns = delay_ns;
    }
}

/// # Safety
/// The descriptor, if it is one, must belong to nothing else.
unsafe fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the caller's promise.
    if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(unsafe { OwnedFd::from_raw_fd(fd) }) }
}

fn time_of_day_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_taken_once_in_their_order() {
        let mut children: Vec<_> =
            (0..4).map(|_| std::process::Command::new("sleep").arg("60").spawn().unwrap()).collect();
        let watcher = RankWatcher::start(children.iter().map(std::process::Child::id).collect()).unwrap();
        assert_eq!(watcher.take(), []);
        let mut taken = Vec::new();
        for place in [2, 0, 3, 1] {
            children[place].kill().unwrap();
            children[place].wait().unwrap();
            if place != 0 {
                taken.extend(watcher.take()); // two ends are taken at once
            }
        }
        assert_eq!(taken.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [2, 0, 3, 1]);
        assert!(taken.is_sorted_by_key(|(_, seen_ns)| *seen_ns), "{taken:?}");
        assert_eq!(watcher.take(), []);
    }

    #[test]
    fn a_delay_between_two_looks_makes_for_another_look() {
        let delays = std::cell::RefCell::new([5, 9, 9].into_iter());
        let times = std::cell::RefCell::new([100, 104].into_iter());
        let seen = at_one_time(|| times.borrow_mut().next().unwrap(), || delays.borrow_mut().next().unwrap());
        assert_eq!(seen, (104, 9));
    }

    #[test]
    fn an_end_is_not_seen_before_earlier_ones() {
        assert_eq!(seen_at(1_000, 300, 600), 700);
        assert_eq!(seen_at(1_000, 800, 600), 600, "a part of the delay came before the end");
    }
}
