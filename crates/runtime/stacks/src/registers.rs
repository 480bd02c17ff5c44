//! What differs between processors: where registers are, and whether an interrupted system call can be made
//! to go on.

use libc::user_regs_struct;

/// The registers that unwinding needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnwindRegisters {
    pub(crate) program_counter: u64,
    pub(crate) stack_pointer: u64,
    pub(crate) frame_pointer: u64,
    /// The return address, on processors that keep it in a register.
    pub(crate) link: u64,
}

/// System calls that fail with EINTR if a thread is stopped in them, although no signal has come. All others
/// go on by themselves (signal(7), "Interruption of system calls and library functions by stop signals").
/// Reading and writing is among them for sockets with timeouts and for inotify.
const INTERRUPTED: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_io_getevents,
    libc::SYS_io_uring_enter,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
];

/// Whether a system call fails if a thread is stopped in it.
pub(crate) fn is_interrupted_by_a_stop(call: i64) -> bool {
    INTERRUPTED.contains(&call)
}

#[cfg(target_arch = "x86_64")]
mod processor {
    use super::{UnwindRegisters, is_interrupted_by_a_stop, user_regs_struct};

    pub(crate) fn for_unwinding(registers: &user_regs_struct) -> UnwindRegisters {
        UnwindRegisters {
            program_counter: registers.rip,
            stack_pointer: registers.rsp,
            frame_pointer: registers.rbp,
            link: 0,
        }
    }

    /// Whether interrupted system calls can be made to go on.
    pub(crate) const CAN_RESTART: bool = true;

    /// The registers with which a system call that the stop has ended goes on; None if it has ended none.
    ///
    /// The kernel looks at the result after the stop: this one means "again, unless a handler runs now; then
    /// it has been interrupted".
    pub(crate) fn restarted(registers: &user_regs_struct) -> Option<user_regs_struct> {
        /// The kernel's ERESTARTNOHAND.
        const AGAIN_UNLESS_HANDLED: i64 = -514;
        let has_failed = registers.rax as i64 == -i64::from(libc::EINTR);
        (has_failed && is_interrupted_by_a_stop(registers.orig_rax as i64))
            .then_some(user_regs_struct { rax: AGAIN_UNLESS_HANDLED as u64, ..*registers })
    }
}

#[cfg(target_arch = "aarch64")]
mod processor {
    use super::{UnwindRegisters, user_regs_struct};

    pub(crate) fn for_unwinding(registers: &user_regs_struct) -> UnwindRegisters {
        UnwindRegisters {
            program_counter: registers.pc,
            stack_pointer: registers.sp,
            frame_pointer: registers.regs[29],
            link: registers.regs[30],
        }
    }

    /// The kernel decides before the stop whether a call goes on.
    pub(crate) const CAN_RESTART: bool = false;

    pub(crate) fn restarted(_: &user_regs_struct) -> Option<user_regs_struct> {
        None
    }
}

pub(crate) use processor::{CAN_RESTART, for_unwinding, restarted};
