//! Values over a stream socket between two processes of one machine, without waiting.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How much is read at once, bytes.
const PART: usize = 64 * 1024;

/// One end. Each value is preceded by its length.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    is_closed: bool,
}

impl Channel {
    /// Two ends that belong together.
    ///
    /// # Errors
    /// If the kernel has no descriptors left.
    pub fn pair() -> io::Result<(Channel, Channel)> {
        let (one, other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok((Channel::new(one)?, Channel::new(other)?))
    }

    fn new(socket: OwnedFd) -> io::Result<Channel> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(Channel { socket, incoming: Vec::new(), outgoing: Vec::new(), is_closed: false })
    }

    /// Readable when something has come, or the other end is closed.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Whether the other end is closed, and all that came before has been received.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Whether something waits for room in the socket.
    pub fn has_output(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Sends a value, or keeps it until there is room.
    pub fn send(&mut self, value: &impl Serialize) {
        let bytes = serde_json::to_vec(value).expect("these values can be written as JSON");
        self.outgoing.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.outgoing.extend_from_slice(&bytes);
        self.flush();
    }

    /// Sends what waits, as far as there is room.
    pub fn flush(&mut self) {
        while !self.outgoing.is_empty() {
            match send(&self.socket, &self.outgoing, SendFlags::NOSIGNAL) {
                Ok(sent) => drop(self.outgoing.drain(..sent)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // No process reads it any more; reading finds out.
                Err(_) => self.outgoing.clear(),
            }
        }
    }

    /// Sends all that waits, however long it takes.
    pub fn finish(&mut self) {
        self.flush();
        while self.has_output() {
            let mut fds = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::OUT)];
            // An interrupted call is repeated.
            let _ = poll(&mut fds, None);
            self.flush();
        }
    }

    /// The values that have come. What is none closes the channel.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Vec<T> {
        let mut part = [0; PART];
        loop {
            match rustix::io::read(&self.socket, &mut part) {
                Ok(0) => self.is_closed = true,
                Ok(read) => {
                    self.incoming.extend_from_slice(&part[..read]);
                    continue;
                }
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {}
                Err(_) => self.is_closed = true,
            }
            break;
        }
        let mut values = Vec::new();
        while let Some((length, rest)) = self.incoming.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length) as usize;
            let Some(bytes) = rest.get(..length) else { break };
            match serde_json::from_slice(bytes) {
                Ok(value) => values.push(value),
                Err(_) => self.is_closed = true,
            }
            self.incoming.drain(..4 + length);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_whole_and_in_order_however_long_they_are() {
        let (mut one, mut other) = Channel::pair().unwrap();
        let sent: Vec<String> = [0, 1, 3_000_000, 5].iter().map(|length| "x".repeat(*length)).collect();
        sent.iter().for_each(|text| one.send(text));
        assert!(one.has_output(), "the socket holds less");
        let mut received: Vec<String> = Vec::new();
        while received.len() < sent.len() {
            received.extend(other.receive::<String>());
            one.flush();
        }
        assert!(received == sent && !other.is_closed());
        drop(one);
        assert!(other.receive::<String>().is_empty() && other.is_closed());
    }

    #[test]
    fn what_is_no_value_closes() {
        let (mut one, mut other) = Channel::pair().unwrap();
        one.send(&"text");
        assert!(other.receive::<u32>().is_empty() && other.is_closed());
    }
}
