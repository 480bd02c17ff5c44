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
/// know. What the rank had open beyond `last_inherited` is closed. No signal of the job's reaches it: it has
/// a process group of its own, where launchers and programs signal those of the ranks, and it takes no
/// signal that can be blocked. It stays in the session, by which the kernel may share out processor time. To
/// be called before there is a second thread.
pub fn daemonize(last_inherited: RawFd) {
    // SAFETY: there is one thread so far; the parent ends at once, without running anything that the
    // child might run too.
    unsafe {
        if libc::fork() > 0 {
            libc::_exit(0);
        }
        libc::setpgid(0, 0);
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
        if libc::syscall(libc::SYS_close_range, last_inherited as u32 + 1, u32::MAX, 0) != 0 {
            close_each_above(last_inherited); // kernels before 5.9, and filters of system calls
        }
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        libc::dup2(nothing, 0);
        libc::dup2(nothing, 1);
        if nothing > 2 {
            libc::close(nothing);
        }
    }
}

/// Closes each descriptor above one.
fn close_each_above(last_kept: RawFd) {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<RawFd>().ok());
    // The folder's own descriptor is among them, and is closed when the list is complete.
    let open: Vec<RawFd> = numbers.filter(|number| *number > last_kept).collect();
    for number in open {
        // SAFETY: nothing in this process has opened it.
        unsafe { libc::close(number) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_descriptor_above_one_is_closed() {
        // SAFETY: the child makes system calls and allocates; this test's process has no lock held by another
        // thread that the child needs but that of the allocator, which fork takes and frees.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let first = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY);
                let second = libc::dup(first);
                close_each_above(first);
                let is_open = |fd| libc::fcntl(fd, libc::F_GETFD) >= 0;
                libc::_exit(i32::from(!is_open(first) || is_open(second)));
            }
            let mut status = -1;
            libc::waitpid(child, &mut status, 0);
            assert_eq!(status, 0);
        }
    }
}
