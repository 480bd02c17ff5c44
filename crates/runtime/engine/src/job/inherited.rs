//! What a forked child has inherited and must close.

use std::mem::MaybeUninit;
use std::os::fd::RawFd;

/// A descriptor of this process, and which file it is: the program may close any descriptor, and open
/// another file under its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inherited {
    descriptor: RawFd,
    file: Option<(libc::dev_t, libc::ino_t)>,
}

impl Inherited {
    /// What a forked child will have inherited.
    pub(super) fn of(descriptor: RawFd) -> Inherited {
        Inherited { descriptor, file: file(descriptor) }
    }

    /// Closes it, if it is still what it was.
    ///
    /// # Safety
    /// To be called in a forked child, in which nothing uses it or drops its owner.
    pub(super) unsafe fn close(&self) {
        if self.file.is_some() && file(self.descriptor) == self.file {
            // SAFETY: by the caller's promise.
            unsafe { libc::close(self.descriptor) };
        }
    }
}

fn file(descriptor: RawFd) -> Option<(libc::dev_t, libc::ino_t)> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: there is room for what is told, which is there if the call succeeds.
    unsafe {
        let told = libc::fstat(descriptor, status.as_mut_ptr()) == 0;
        told.then(|| status.assume_init()).map(|status| (status.st_dev, status.st_ino))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::pipe;
    use std::os::fd::{AsRawFd, IntoRawFd};

    #[test]
    fn it_is_closed_unless_it_has_become_another_file() {
        let (reader, _writer) = pipe().unwrap();
        let descriptor = reader.into_raw_fd();
        let inherited = Inherited::of(descriptor);
        let other = File::open("/proc/self/maps").unwrap();
        // SAFETY: plain descriptors of this test, which no object owns.
        unsafe {
            assert_eq!(libc::dup2(other.as_raw_fd(), descriptor), descriptor);
            inherited.close();
            assert!(file(descriptor).is_some(), "it is the program's now");
            let inherited = Inherited::of(descriptor);
            inherited.close();
            assert!(file(descriptor).is_none());
        }
    }
}
