//! Makes the agent a process of its own.

use std::os::fd::RawFd;

/// Memory that has been freed and is kept for the next messages. The C library would give it back to the
/// kernel after every large message; it would come back page by page, which takes longer than copying the
/// message.
const KEPT_BYTES: i32 = 8 << 20;

/// Keeps freed memory for the next messages. Only the GNU C library has such settings; to be called
/// before there is a second thread.
pub fn keep_freed_memory() {
    // SAFETY: settings of the allocator, which no thread uses at this time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT_BYTES);
    }
}

/// Goes on in a child of a process that ends, so that the rank has no child that its program does not
/// know, and ignores signals that a terminal or launcher sends to all processes. What the rank had open
/// beyond `last_inherited` is closed. To be called before there is a second thread.
pub fn daemonize(last_inherited: RawFd) {
    // SAFETY: there is one thread so far; the parent ends at once, without running anything that the
    // child might run too.
    unsafe {
        if libc::fork() > 0 {
            libc::_exit(0);
        }
        libc::syscall(libc::SYS_close_range, last_inherited as u32 + 1, u32::MAX, 0);
        for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGTERM, libc::SIGPIPE, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_IGN);
        }
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        libc::dup2(nothing, 0);
        libc::dup2(nothing, 1);
        if nothing > 2 {
            libc::close(nothing);
        }
    }
}
