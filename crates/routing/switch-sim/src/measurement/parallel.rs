//! Independent simulations on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `run` for every item, on several threads, and returns the results in the order of the items.
///
/// The results do not depend on the number of threads. `done` is called after each item.
pub fn run_parallel<I: Sync, T: Send>(
    items: &[I],
    threads: usize,
    run: impl Fn(&I) -> T + Sync,
    done: impl Fn() + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<T>>> = Mutex::new(items.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                // Relaxed suffices: the counter only distributes the items. Results go through the mutex.
                while let Some((index, item)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, items.get(i)?)))
                {
                    let result = run(item);
                    results.lock().expect("no thread panics while it holds the lock")[index] = Some(result);
                    done();
                }
            });
        }
    });
    let results = results.into_inner().expect("no thread panicked while it held the lock");
    results.into_iter().map(|r| r.expect("every item was run")).collect()
}
