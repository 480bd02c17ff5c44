//! What the launcher waits for: descriptors, each with what it belongs to.

use super::rank::Stream;
use crate::job::JobError;
use crate::pmi1::Client;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fs::Timespec;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// How many descriptors that are ready are told at once.
const AT_ONCE: usize = 64;

/// What a descriptor that is ready belongs to; the number that the kernel keeps for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Signals,
    Supervisor,
    /// The node process has sent orders, or has gone.
    Node,
    /// There is room in the sink of this stream.
    Room(Stream),
    /// Ranks have told the server of PMIx something.
    Pmix,
    Pmi(Client),
    Output(Client, Stream),
}

impl Source {
    fn to_number(self) -> u64 {
        match self {
            Source::Signals => 0,
            Source::Supervisor => 1,
            Source::Room(stream) => 2 + stream as u64,
            Source::Pmix => 4,
            Source::Node => 5,
            Source::Pmi(client) => 6 + 3 * client as u64,
            Source::Output(client, stream) => 7 + 3 * client as u64 + stream as u64,
        }
    }

    fn from_number(number: u64) -> Source {
        match number {
            0 => Source::Signals,
            1 => Source::Supervisor,
            2 => Source::Room(Stream::Stdout),
            3 => Source::Room(Stream::Stderr),
            4 => Source::Pmix,
            5 => Source::Node,
            number => {
                let client = ((number - 6) / 3) as Client;
                match (number - 6) % 3 {
                    0 => Source::Pmi(client),
                    1 => Source::Output(client, Stream::Stdout),
                    _ => Source::Output(client, Stream::Stderr),
                }
            }
        }
    }
}

/// The descriptors that are waited for.
#[derive(Debug)]
pub(super) struct Sources {
    epoll: OwnedFd,
}

impl Sources {
    pub(super) fn new() -> Result<Sources, JobError> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(JobError::system("epoll"))?;
        Ok(Sources { epoll })
    }

    /// From now on a descriptor is waited for, until it is readable.
    pub(super) fn watch(&self, fd: BorrowedFd, source: Source) -> Result<(), JobError> {
        let data = EventData::new_u64(source.to_number());
        epoll::add(&self.epoll, fd, data, EventFlags::IN).map_err(JobError::system("epoll"))
    }

    /// Whether a connection that is watched is waited for until there is room to write, too.
    pub(super) fn await_room(&self, fd: BorrowedFd, source: Source, has_output: bool) {
        self.change(fd, source, if has_output { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN });
    }

    /// Whether a pipe that is watched is waited for at all.
    pub(super) fn hold(&self, fd: BorrowedFd, source: Source, is_held: bool) {
        self.change(fd, source, if is_held { EventFlags::empty() } else { EventFlags::IN });
    }

    fn change(&self, fd: BorrowedFd, source: Source, flags: EventFlags) {
        // The descriptor is watched; this cannot fail.
        let _ = epoll::modify(&self.epoll, fd, EventData::new_u64(source.to_number()), flags);
    }

    /// Waits until something is ready, or until a time. Returns what is ready.
    pub(super) fn wait(&self, until: Option<Instant>) -> Vec<Source> {
        let timeout = until.map(|at| to_timespec(at.saturating_duration_since(Instant::now())));
        let mut events: Vec<Event> = Vec::with_capacity(AT_ONCE);
        // An interrupted wait comes with a signal, which the next one finds.
        let _ = epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref());
        events.iter().map(|event| Source::from_number(event.data.u64())).collect()
    }
}

fn to_timespec(duration: Duration) -> Timespec {
    // Rounded up, so that the time has come when the wait ends.
    let duration = duration + Duration::from_micros(1);
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::pipe;
    use std::collections::HashSet;
    use std::os::fd::AsFd;

    #[test]
    fn each_source_has_a_number_of_its_own() {
        let mut all = vec![Source::Signals, Source::Supervisor, Source::Node, Source::Pmix];
        all.extend(Stream::ALL.map(Source::Room));
        for client in [0, 1, 77] {
            all.push(Source::Pmi(client));
            all.extend(Stream::ALL.map(|stream| Source::Output(client, stream)));
        }
        for source in &all {
            assert_eq!(Source::from_number(source.to_number()), *source);
        }
        let numbers: HashSet<u64> = all.iter().map(|source| source.to_number()).collect();
        assert_eq!(numbers.len(), all.len());
    }
    #[test]
    fn what_is_readable_is_told_unless_it_is_held() {
        let sources = Sources::new().unwrap();
        let (reader, writer) = pipe().unwrap();
        let source = Source::Output(3, Stream::Stderr);
        sources.watch(reader.as_fd(), source).unwrap();
        assert_eq!(sources.wait(Some(Instant::now())), []);
        rustix::io::write(&writer, b"x").unwrap();
        assert_eq!(sources.wait(None), [source]);
        sources.hold(reader.as_fd(), source, true);
        assert_eq!(sources.wait(Some(Instant::now())), []);
        sources.hold(reader.as_fd(), source, false);
        assert_eq!(sources.wait(None), [source]);
    }

    #[test]
    fn a_connection_is_ready_when_it_has_room_if_that_is_waited_for() {
        let sources = Sources::new().unwrap();
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        sources.watch(one.as_fd(), Source::Node).unwrap();
        assert_eq!(sources.wait(Some(Instant::now())), []);
        sources.await_room(one.as_fd(), Source::Node, true);
        assert_eq!(sources.wait(None), [Source::Node]);
        sources.await_room(one.as_fd(), Source::Node, false);
        assert_eq!(sources.wait(Some(Instant::now())), []);
    }
}
