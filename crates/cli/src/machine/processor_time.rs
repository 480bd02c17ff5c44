//! Processor time that this program and the programs it has started took, in seconds. Unlike elapsed time it
//! does not depend on what else the machine does.

use rustix::time::{ClockId, clock_gettime};

/// What all threads of this process have taken so far, in the program and in the kernel.
pub fn of_this_process() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// What the child processes have taken that have ended and have been waited for.
pub fn of_ended_children() -> f64 {
    // SAFETY: zeros are a valid `rusage`, and the kernel writes nothing but this structure. The call cannot
    // fail with these arguments.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_was_worked_is_counted() {
        let before = of_this_process();
        while of_this_process() < before + 0.002 {
            std::hint::spin_loop();
        }
        let before = of_ended_children();
        let work = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done";
        assert!(std::process::Command::new("sh").args(["-c", work]).status().unwrap().success());
        assert!(of_ended_children() > before);
    }
}
