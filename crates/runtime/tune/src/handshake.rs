//! What a rank and the process that started it exchange: lines of text on the rank's standard input and
//! output. Through the starter, the ranks learn enough of each other to share memory.
//!
//! ```text
//! rank → starter   process N N …      the process info of the engine, as numbers
//! starter → rank   R N N …            its rank, then the process infos of all ranks in order
//! rank → starter   joined N           whether it could map the shared memory
//! starter → rank   N N …              these answers of all ranks in order
//! starter → rank   {…}                the task
//! rank 0 → starter progress 0.25      the share of the time that has passed, many times
//! rank 0 → starter found {…}          the result
//! ```

use crate::comparison::Comparison;
use crate::error::RankError;
use crate::task::MeasurementTask;
use evenkeel_engine::job::process_info::{PROCESS_INFO_WORDS, ProcessInfo};
use std::fmt::Display;
use std::io::{BufRead, Write};
use std::str::FromStr;

/// A rank's side of the exchange.
pub(crate) struct StarterConnection<R, W> {
    from: R,
    to: W,
}

impl<R: BufRead, W: Write> StarterConnection<R, W> {
    pub(crate) fn new(from: R, to: W) -> StarterConnection<R, W> {
        StarterConnection { from, to }
    }

    /// Introduces this process to the other ranks.
    pub(crate) fn send_process_info(&mut self, info: &ProcessInfo) -> Result<(), RankError> {
        self.send("process", format_process_info(info))
    }

    /// Receives this process's rank, and the process infos of all ranks.
    pub(crate) fn receive_introductions(&mut self) -> Result<(usize, Vec<ProcessInfo>), RankError> {
        self.receive(|line| {
            let (rank, infos) = line.split_once(' ')?;
            Some((rank.parse().ok()?, parse_process_infos(infos)?))
        })
    }

    /// Sends the engine's answer: whether this process could join the others.
    pub(crate) fn send_joined(&mut self, answer: u8) -> Result<(), RankError> {
        self.send("joined", answer)
    }

    /// Receives the answers of all ranks.
    pub(crate) fn receive_answers(&mut self, ranks: usize) -> Result<Vec<u8>, RankError> {
        self.receive(|line| parse_numbers(line).filter(|answers: &Vec<u8>| answers.len() == ranks))
    }

    pub(crate) fn receive_task(&mut self) -> Result<MeasurementTask, RankError> {
        self.receive(|line| serde_json::from_str(line).ok())
    }

    /// Sends the share of the time that has passed, from 0 to 1.
    pub(crate) fn send_progress(&mut self, share: f64) -> Result<(), RankError> {
        self.send("progress", share)
    }

    pub(crate) fn send_result(&mut self, result: &Comparison) -> Result<(), RankError> {
        self.send("found", serde_json::to_string(result).expect("plain data has a JSON form"))
    }

    /// Waits until the starter closes the connection.
    pub(crate) fn wait_for_end(&mut self) {
        let _ = self.receive(|_| Some(()));
    }

    fn send(&mut self, word: &str, value: impl Display) -> Result<(), RankError> {
        writeln!(self.to, "{word} {value}").and_then(|()| self.to.flush()).map_err(RankError::Write)
    }

    fn receive<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, RankError> {
        let mut line = String::new();
        match self.from.read_line(&mut line) {
            Ok(bytes) if bytes > 0 => {}
            _ => return Err(RankError::StarterEnded),
        }
        parse(&line).ok_or_else(|| RankError::NotUnderstood { line: line.trim_end().into() })
    }
}

fn format_process_info(info: &ProcessInfo) -> String {
    let words: Vec<String> = info.to_words().iter().map(u64::to_string).collect();
    words.join(" ")
}

/// Parses process infos that follow each other. None if the numbers are not whole process infos.
fn parse_process_infos(line: &str) -> Option<Vec<ProcessInfo>> {
    let words: Vec<u64> = parse_numbers(line)?;
    let is_whole = !words.is_empty() && words.len() % PROCESS_INFO_WORDS == 0;
    is_whole.then(|| {
        words
            .chunks(PROCESS_INFO_WORDS)
            .map(|words| ProcessInfo::from_words(words.try_into().expect("chunks have this length")))
            .collect()
    })
}

fn parse_numbers<N: FromStr>(line: &str) -> Option<Vec<N>> {
    line.split_whitespace().map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_process_infos_are_read_back() {
        let words = |from: u64| std::array::from_fn(|i| from + i as u64 * 0x1_0000_0001);
        let infos = [ProcessInfo::from_words(words(3)), ProcessInfo::from_words(words(u64::from(u32::MAX)))];
        let line = infos.iter().map(format_process_info).collect::<Vec<_>>().join(" ");
        assert_eq!(parse_process_infos(&line), Some(infos.to_vec()));
        assert_eq!(
            (parse_process_infos(""), parse_process_infos("1 2 3"), parse_process_infos("one")),
            (None, None, None)
        );
    }

    #[test]
    fn a_line_that_does_not_fit_the_handshake_is_quoted() {
        let mut starter = StarterConnection::new("0 1\n".as_bytes(), Vec::new());
        let error = starter.receive_answers(3).unwrap_err();
        assert!(matches!(&error, RankError::NotUnderstood { line } if line == "0 1"), "{error}");
        assert!(matches!(starter.receive_task(), Err(RankError::StarterEnded)));
    }
}
