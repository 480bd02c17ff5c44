//! How far a command is, on standard error and only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::sync::atomic::{AtomicU64, Ordering};

/// Steps of the bar for each task.
const STEPS: u64 = 1000;

/// A bar over a number of tasks that take about equally long. It disappears when it is dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    tasks_done: AtomicU64,
}

impl Progress {
    /// A bar that says what is being done: "measuring", "simulating".
    pub fn new(activity: &str, tasks: usize) -> Progress {
        let bar = ProgressBar::new(tasks as u64 * STEPS);
        let style = ProgressStyle::with_template("{spinner} {msg} {bar:40} {percent}%, {eta} left");
        bar.set_style(style.expect("the template is a constant that indicatif accepts"));
        bar.set_message(activity.to_string());
        Progress { bar, tasks_done: AtomicU64::new(0) }
    }

    /// Shows which task is being done.
    pub fn show(&self, task: impl Into<String>) {
        self.bar.set_message(task.into());
    }

    /// The share of the current task that is done, from 0 to 1.
    pub fn set_share(&self, share: f64) {
        let done = self.tasks_done.load(Ordering::Relaxed);
        self.bar.set_position(done * STEPS + (share.clamp(0.0, 1.0) * STEPS as f64) as u64);
    }

    /// One task is done. Tasks may be done in several threads.
    pub fn finish_task(&self) {
        let done = self.tasks_done.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_position(done * STEPS);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_move_the_bar_by_their_share() {
        let progress = Progress::new("testing", 2);
        progress.set_share(0.5);
        assert_eq!(progress.bar.position(), 500);
        progress.finish_task();
        progress.set_share(0.25);
        assert_eq!((progress.bar.position(), progress.bar.length()), (1250, Some(2000)));
    }
}
