//! Waits for several sockets and a time at once, behind one descriptor (epoll).

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// How many sockets are reported at once.
const AT_ONCE: usize = 64;
/// What the timer is known by.
const TIMER: u64 = u64::MAX;

/// A socket that is ready.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    /// What it is known by.
    pub key: u64,
    /// Whether there is something to read, or the connection has ended.
    pub read: bool,
    /// Whether there is room to write, or the connection has ended.
    pub write: bool,
}

pub(super) struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
    entries: Vec<libc::epoll_event>,
}

impl Poller {
    pub fn new() -> io::Result<Poller> {
        // SAFETY: makes two descriptors, which belong to the result.
        let (epoll, timer) = unsafe {
            let epoll = owned(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
            let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
            (epoll, owned(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags))?)
        };
        let poller = Poller { epoll, timer, entries: Vec::with_capacity(AT_ONCE) };
        poller.control(libc::EPOLL_CTL_ADD, poller.timer.as_raw_fd(), TIMER, false)?;
        Ok(poller)
    }

    /// A descriptor that is readable when a socket is ready or the time has come.
    pub fn descriptor(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }

    /// Watches a socket; `writes`: also for room to write.
    pub fn add(&self, socket: &impl AsRawFd, key: u64, writes: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, socket.as_raw_fd(), key, writes)
    }

    /// Watches a socket, which is watched already, for room to write or no more.
    pub fn set_writes(&self, socket: &impl AsRawFd, key: u64, writes: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, socket.as_raw_fd(), key, writes)
    }

    /// Watches a socket no more. One that is closed need not be removed.
    pub fn remove(&self, socket: &impl AsRawFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, socket.as_raw_fd(), 0, false)
    }

    fn control(&self, operation: i32, fd: RawFd, key: u64, writes: bool) -> io::Result<()> {
        let events = libc::EPOLLIN | if writes { libc::EPOLLOUT } else { 0 };
        let mut event = libc::epoll_event { events: events as u32, u64: key };
        // SAFETY: two open descriptors, and an entry that is read in the call.
        let code = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &mut event) };
        if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Becomes readable at this time; None: at no time.
    pub fn set_timer(&self, at: Option<Instant>) {
        let mut setting = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: libc::timespec { tv_sec: 0, tv_nsec: 0 },
        };
        if let Some(at) = at {
            // Zero would mean: at no time.
            let left = at.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1));
            setting.it_value.tv_sec = left.as_secs() as libc::time_t;
            setting.it_value.tv_nsec = left.subsec_nanos().into();
        }
        // SAFETY: a timer of ours, and a setting that is read in the call.
        unsafe { libc::timerfd_settime(self.timer.as_raw_fd(), 0, &setting, std::ptr::null_mut()) };
    }

    /// Adds the sockets that are ready to `ready`. Sleeps for `longest` at most until there is one, or until
    /// the timer's time.
    pub fn wait(&mut self, longest: Duration, ready: &mut Vec<Ready>) {
        // Rounded up: waiting for 0 ms would be polling.
        let milliseconds = longest.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32;
        // SAFETY: there is room for so many entries, and the kernel fills those that it counts.
        let filled = unsafe {
            let (epoll, room) = (self.epoll.as_raw_fd(), self.entries.as_mut_ptr());
            let count = libc::epoll_wait(epoll, room, AT_ONCE as i32, milliseconds).max(0);
            std::slice::from_raw_parts(room, count as usize)
        };
        for &libc::epoll_event { events, u64: key } in filled {
            if key == TIMER {
                continue; // it is set anew by those who look at the time
            }
            let ended = events & (libc::EPOLLERR | libc::EPOLLHUP) as u32 != 0;
            let has = |event: i32| ended || events & event as u32 != 0;
            ready.push(Ready { key, read: has(libc::EPOLLIN), write: has(libc::EPOLLOUT) });
        }
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// # Safety
/// `fd` is -1, or a descriptor that nothing else owns.
unsafe fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: by the caller's promise.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
