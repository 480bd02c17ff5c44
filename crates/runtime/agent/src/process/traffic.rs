//! How many messages an agent has sent and received, and the processor time that all its work took.

use std::io::Write;

/// What has been counted since the agent was set up.
#[derive(Debug, Default)]
pub struct Traffic {
    sent: u64,
    sent_bytes: u64,
    received: u64,
    received_bytes: u64,
    began_us: u64,
}

/// Processor time of this process so far, in user mode and in the kernel, in microseconds.
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

impl Traffic {
    /// Begins to count.
    pub fn begin() -> Traffic {
        Traffic { began_us: processor_us(), ..Traffic::default() }
    }

    /// Counts a message to another node.
    pub fn sent(&mut self, bytes: usize) {
        self.sent += 1;
        self.sent_bytes += bytes as u64;
    }

    /// Counts a message from another node.
    pub fn received(&mut self, bytes: usize) {
        self.received += 1;
        self.received_bytes += bytes as u64;
    }

    /// One line of JSON about the agent of a host.
    fn line(&self, host: &str) -> String {
        let Traffic { sent, sent_bytes, received, received_bytes, began_us } = self;
        let us = processor_us() - began_us;
        format!(
            "{{\"host\": {host:?}, \"sent\": {sent}, \"sent_bytes\": {sent_bytes}, \"taken\": {received}, \
             \"taken_bytes\": {received_bytes}, \"processor_us\": {us}}}\n"
        )
    }

    /// Appends that line to a file, in one write, so that lines of several agents do not mix. A file that
    /// cannot be written is ignored: the job has its results.
    pub fn append_to(&self, path: &str, host: &str) {
        if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
            let _ = file.write_all(self.line(host).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_what_was_counted() {
        let mut traffic = Traffic::begin();
        (0..3).for_each(|_| traffic.sent(40));
        traffic.received(100);
        let line = traffic.line("h1");
        let counts =
            "{\"host\": \"h1\", \"sent\": 3, \"sent_bytes\": 120, \"taken\": 1, \"taken_bytes\": 100, ";
        assert!(line.starts_with(&format!("{counts}\"processor_us\": ")), "{line}");
    }
}
