//! Simulations beside each other.

use crate::errors::ClusterError;
use crate::output::progress::Progress;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs tasks in several threads, and returns their results in the order of the tasks. The first error, in
/// that order, is returned.
pub fn run_all<Task: Sync, Found: Send>(
    tasks: &[Task],
    threads: Option<usize>,
    progress: &Progress,
    run: impl Fn(&Task) -> Result<Found, ClusterError> + Sync,
) -> Result<Vec<Found>, ClusterError> {
    let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(tasks.len())));
    let work = || {
        while let Some((at, task)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            tasks.get(at).map(|task| (at, task))
        } {
            let result = run(task);
            progress.finish_task();
            found.lock().expect("no thread panics while it holds the results").push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(tasks.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut found = found.into_inner().expect("no thread panics while it holds the results");
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, result)| result).collect()
}
