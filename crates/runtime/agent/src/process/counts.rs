//! What the agent has done, for who asks: messages, and the processor time that all of it took.

use std::io::Write;

/// Since the agent has been set up.
#[derive(Debug, Default)]
pub struct Counts {
    pub sent: u64,
    pub sent_bytes: u64,
    pub taken: u64,
    pub taken_bytes: u64,
    began_us: u64,
}

/// Processor time of this process so far, its own and the kernel's for it, in microseconds.
fn processor_us() -> u64 {
    // SAFETY: fills in a structure of ours.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut used);
        used
    };
    [used.ru_utime, used.ru_stime]
        .iter()
        .map(|time| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64)
        .sum()
}

impl Counts {
    /// Begins to count.
    pub fn begin() -> Counts {
        Counts { began_us: processor_us(), ..Counts::default() }
    }

    /// A message to another node.
    pub fn send(&mut self, bytes: usize) {
        self.sent += 1;
        self.sent_bytes += bytes as u64;
    }

    /// A message from another node.
    pub fn take(&mut self, bytes: usize) {
        self.taken += 1;
        self.taken_bytes += bytes as u64;
    }

    /// One line of JSON about the agent of a host.
    pub fn line(&self, host: &str) -> String {
        let Counts { sent, sent_bytes, taken, taken_bytes, began_us } = self;
        let us = processor_us() - began_us;
        format!(
            "{{\"host\": {host:?}, \"sent\": {sent}, \"sent_bytes\": {sent_bytes}, \"taken\": {taken}, \"taken_bytes\": {taken_bytes}, \"processor_us\": {us}}}\n"
        )
    }

    /// Adds that line to a file, at once, so that lines of several agents do not mix. Nothing comes of it
    /// if that cannot be done: the job has its answers.
    pub fn add_to(&self, path: &str, host: &str) {
        if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
            let _ = file.write_all(self.line(host).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_counted() {
        let mut counts = Counts::begin();
        (0..3).for_each(|_| counts.send(40));
        counts.take(100);
        let line = counts.line("h1");
        assert!(line.starts_with("{\"host\": \"h1\", \"sent\": 3, \"sent_bytes\": 120, \"taken\": 1, \"taken_bytes\": 100, \"processor_us\": "), "{line}");
    }
}
