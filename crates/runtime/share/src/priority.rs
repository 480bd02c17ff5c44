//! The priority of the switcher.

/// Below the kernel's own threads, above all ordinary processes.
const PRIORITY: i32 = 10;

/// Whether this user's switchers get real-time priority. Tried: this thread has it for a moment.
pub fn real_time_is_permitted() -> bool {
    // SAFETY: this call takes a number.
    let policy = unsafe { libc::sched_getscheduler(0) };
    let is_permitted = set_real_time(PRIORITY);
    if is_permitted {
        // SAFETY: the parameter lives during the call, and the kernel only reads it.
        unsafe {
            let parameter = std::mem::zeroed::<libc::sched_param>();
            libc::sched_setscheduler(0, policy, &raw const parameter);
        }
    }
    is_permitted
}

fn set_real_time(priority: i32) -> bool {
    // SAFETY: the parameter lives during the call, and the kernel only reads it.
    unsafe {
        let mut parameter = std::mem::zeroed::<libc::sched_param>();
        parameter.sched_priority = priority;
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameter) == 0
    }
}

/// The switcher must not queue for the cores that it switches. Returns whether it has real-time priority; if
/// not, a short slice lets it run sooner.
pub(crate) fn raise_priority() -> bool {
    // A wait ends when its time has come, not 50 us later.
    // SAFETY: this option takes a number.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
    let is_real_time = set_real_time(PRIORITY);
    if !is_real_time {
        ask_for_short_slice();
    }
    is_real_time
}

/// Kernels of Linux 6.12 and later run a process sooner that asks for a shorter slice. Others ignore it.
fn ask_for_short_slice() {
    /// `struct sched_attr` of <linux/sched/types.h>, first version.
    #[repr(C)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime_ns: u64,
        deadline_ns: u64,
        period_ns: u64,
    }
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        policy: libc::SCHED_OTHER as u32,
        flags: 0,
        nice: 0,
        priority: 0,
        runtime_ns: 100_000,
        deadline_ns: 0,
        period_ns: 0,
    };
    // SAFETY: the kernel reads as many bytes as the first field says, which live during the call.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}
