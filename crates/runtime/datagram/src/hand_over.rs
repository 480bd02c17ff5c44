//! Gives a descriptor to other processes of the same user: over a local socket with a random name, which only
//! those learn that share a segment. It needs no right to trace processes, so it works in containers.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// What the local socket is called: random bits.
pub type Name = [u64; 2];

/// Connections that the kernel keeps until they are accepted.
const BACKLOG: libc::c_int = 1024;
/// Room for one descriptor in a control message, in words.
const CONTROL_WORDS: usize = 8;

/// A local socket at which processes get a descriptor.
pub struct HandOver {
    listener: OwnedFd,
    name: Name,
}

/// The address of a name: in the abstract namespace, so that no file remains.
fn address(name: Name) -> (libc::sockaddr_un, libc::socklen_t) {
    // SAFETY: all zeros are a valid value.
    let mut address: libc::sockaddr_un = unsafe { MaybeUninit::zeroed().assume_init() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let text = format!("\0evenkeel-{:016x}{:016x}", name[0], name[1]);
    address.sun_path.iter_mut().zip(text.bytes()).for_each(|(place, byte)| *place = byte as libc::c_char);
    let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + text.len();
    (address, length as libc::socklen_t)
}

fn local_socket() -> io::Result<OwnedFd> {
    // SAFETY: makes a descriptor, which belongs to the result.
    let fd = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) };
    owned(fd)
}

/// The descriptor that a call of the kernel has returned, or the error.
pub(crate) fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the callers have just got it from the kernel.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits until a descriptor is readable. False: it has not become so in time.
fn is_readable(fd: &OwnedFd, until: Instant) -> bool {
    loop {
        let left = until.saturating_duration_since(Instant::now()).as_millis().min(i32::MAX as u128) as i32;
        let mut watched = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid entry.
        let ready = unsafe { libc::poll(&mut watched, 1, left) };
        // A signal may have come.
        if ready >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return ready > 0;
        }
    }
}

impl HandOver {
    /// Makes the local socket.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn new() -> io::Result<HandOver> {
        let random = || evenkeel_secret::random().map(u64::from_le_bytes);
        let (listener, name) = (local_socket()?, [random()?, random()?]);
        let (address, length) = address(name);
        // SAFETY: a socket of ours, and an address of that length.
        let code = unsafe {
            match libc::bind(listener.as_raw_fd(), (&raw const address).cast(), length) {
                0 => libc::listen(listener.as_raw_fd(), BACKLOG),
                failed => failed,
            }
        };
        if code == 0 { Ok(HandOver { listener, name }) } else { Err(io::Error::last_os_error()) }
    }

    /// What those who take the descriptor have to know.
    pub fn name(&self) -> Name {
        self.name
    }

    /// Gives a descriptor to so many processes of this user, or to fewer if they do not come in time.
    pub fn give(self, descriptor: &OwnedFd, processes: usize, patience: Duration) {
        let until = Instant::now() + patience;
        let mut given = 0;
        while given < processes && Instant::now() < until && is_readable(&self.listener, until) {
            // SAFETY: a listening socket of ours; the address of the other end is not wanted.
            let accepted = unsafe {
                let none = (std::ptr::null_mut(), std::ptr::null_mut());
                libc::accept4(self.listener.as_raw_fd(), none.0, none.1, libc::SOCK_CLOEXEC)
            };
            let Ok(connection) = owned(accepted) else { continue };
            given += usize::from(is_of_this_user(&connection) && send(&connection, descriptor).is_ok());
        }
    }
}

/// Whether the process at the other end is of the same user as this one.
fn is_of_this_user(connection: &OwnedFd) -> bool {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: there is room for the answer; the other call has no arguments.
    unsafe {
        let (fd, place) = (connection.as_raw_fd(), (&raw mut peer).cast());
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, place, &mut size) == 0
            && peer.uid == libc::geteuid()
    }
}

/// A message of one byte, with room for a descriptor beside it.
#[derive(Default)]
struct Message {
    byte: u8,
    control: [u64; CONTROL_WORDS],
}

impl Message {
    /// Calls `body` with the message's header.
    fn with_header<R>(&mut self, body: impl FnOnce(&mut libc::msghdr) -> R) -> R {
        let mut piece = libc::iovec { iov_base: (&raw mut self.byte).cast(), iov_len: 1 };
        // SAFETY: all zeros are a valid value.
        let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        header.msg_iov = &raw mut piece;
        header.msg_iovlen = 1;
        header.msg_control = self.control.as_mut_ptr().cast();
        header.msg_controllen = CONTROL_WORDS * 8;
        body(&mut header)
    }
}

fn send(connection: &OwnedFd, descriptor: &OwnedFd) -> io::Result<()> {
    let fd = descriptor.as_raw_fd();
    let mut message = Message::default();
    let sent = message.with_header(|header| {
        // SAFETY: the control message and its descriptor lie within the room for it.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as usize;
            let control = libc::CMSG_FIRSTHDR(header);
            (*control).cmsg_level = libc::SOL_SOCKET;
            (*control).cmsg_type = libc::SCM_RIGHTS;
            (*control).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize;
            libc::CMSG_DATA(control).cast::<RawFd>().write_unaligned(fd);
            libc::sendmsg(connection.as_raw_fd(), header, libc::MSG_NOSIGNAL)
        }
    });
    if sent == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes the descriptor that a process of this user gives under this name.
///
/// # Errors
/// If no process gives any, or not in time.
pub fn take(name: Name, patience: Duration) -> io::Result<OwnedFd> {
    let connection = local_socket()?;
    let (address, length) = address(name);
    // SAFETY: a socket of ours, and an address of that length.
    if unsafe { libc::connect(connection.as_raw_fd(), (&raw const address).cast(), length) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if !is_of_this_user(&connection) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    if !is_readable(&connection, Instant::now() + patience) {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut message = Message::default();
    message.with_header(|header| {
        // SAFETY: the kernel fills in the control message, which is read if it is there.
        unsafe {
            if libc::recvmsg(connection.as_raw_fd(), header, libc::MSG_CMSG_CLOEXEC) != 1 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let control = libc::CMSG_FIRSTHDR(header);
            if control.is_null() || (*control).cmsg_type != libc::SCM_RIGHTS {
                return Err(io::ErrorKind::InvalidData.into());
            }
            owned(libc::CMSG_DATA(control).cast::<RawFd>().read_unaligned())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn processes_that_know_the_name_get_the_descriptor() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let hand_over = HandOver::new().unwrap();
        let name = hand_over.name();
        std::thread::scope(|scope| {
            scope.spawn(|| hand_over.give(&writer.into(), 3, PATIENCE));
            for _ in 0..3 {
                let taken = take(name, PATIENCE).unwrap();
                std::fs::File::from(taken).write_all(b"x").unwrap();
            }
        });
        let mut all = String::new();
        reader.read_to_string(&mut all).unwrap();
        assert_eq!(all, "xxx", "no writing end is left");
        assert!(take(name, PATIENCE).is_err(), "it is over");
    }

    #[test]
    fn who_does_not_come_is_not_waited_for() {
        let hand_over = HandOver::new().unwrap();
        assert!(take([1, 2], PATIENCE).is_err(), "no process has this name");
        let (reader, _writer) = std::io::pipe().unwrap();
        hand_over.give(&reader.into(), 1, Duration::from_millis(10));
    }
}
