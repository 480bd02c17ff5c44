//! Whether another thread of a rank may do what the rank's call waits for.
//!
//! A thread that sleeps on a private futex without a time limit is woken by its own process alone. If all
//! threads but the waiting one and the MPI library's sleep so, none of them sends anything.

use super::process::{self, ThreadState};
use evenkeel_segment::foreign::read_bytes;

/// The most threads of the MPI library that the front end tells: `EK_HOST_THREADS` in
/// `shims/src/process/host_threads.h`.
const MOST_OF_LIBRARY: usize = 64;

/// The threads of a process that are asleep at a look, besides the one in MPI and the library's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads(Option<Vec<ThreadState>>);

impl Threads {
    /// Looks at the threads of a process. `caller`: the one that is in MPI; `library`: where the process
    /// tells which threads the library has made.
    pub fn look(pid: u32, caller: u32, library: u64) -> Threads {
        let library = of_library(pid, library);
        let is_other = |tid: &u32| *tid != caller && !library.contains(pid, *tid);
        let others = process::threads(pid).into_iter().filter(is_other);
        Threads(others.map(|tid| process::thread(pid, tid).filter(ThreadState::sleeps_until_woken)).collect())
    }

    /// Whether none of them has run between two looks, nor will before the one in MPI does something.
    pub fn sleep_for_good(&self, later: &Threads) -> bool {
        self.0.is_some() && self == later
    }
}

/// The threads that the MPI library has made at its start.
struct OfLibrary {
    until_ns: u64,
    ids: Vec<u32>,
}

impl OfLibrary {
    /// A later thread may have got the number of one that has ended.
    fn contains(&self, pid: u32, tid: u32) -> bool {
        self.ids.contains(&tid)
            && process::thread_start_ns(pid, tid).is_some_and(|started| started <= self.until_ns)
    }
}

fn of_library(pid: u32, address: u64) -> OfLibrary {
    const HEAD: usize = 16;
    let mut bytes = [0; HEAD + 4 * MOST_OF_LIBRARY];
    if address == 0 || read_bytes(pid, address, &mut bytes).is_err() {
        return OfLibrary { until_ns: 0, ids: Vec::new() };
    }
    let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let id = |four: &[u8]| u32::from_ne_bytes(four.try_into().expect("four bytes"));
    let count = (word(8) as usize).min(MOST_OF_LIBRARY);
    OfLibrary { until_ns: word(0), ids: bytes[HEAD..].chunks_exact(4).take(count).map(id).collect() }
}
