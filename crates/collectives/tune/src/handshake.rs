//! What the ranks of a measurement tell each other before they share memory, as lines of text through
//! whoever started them.
//!
//! ```text
//! rank → starter   info N N …         the process info of the engine, in words
//! starter → rank   N N …              the cards of all, one after the other
//! rank → starter   joined N
//! starter → rank   N N …              everybody's answer
//! starter → rank   {…}                the task
//! rank 0 → starter progress 0.25 …    now and then
//! rank 0 → starter found {…}          the findings
//! ```

use evenkeel_engine::job::process_info::{PROCESS_INFO_WORDS, ProcessInfo};

/// A process info as a line has it.
pub fn format_process_info(card: &ProcessInfo) -> String {
    let words: Vec<String> = card.to_words().iter().map(u64::to_string).collect();
    words.join(" ")
}

/// Cards from a line; None if they are none.
pub fn parse_process_infos(line: &str) -> Option<Vec<ProcessInfo>> {
    let words: Vec<u64> = parse_numbers(line)?;
    let whole = !words.is_empty() && words.len() % PROCESS_INFO_WORDS == 0;
    whole.then(|| {
        words
            .chunks(PROCESS_INFO_WORDS)
            .map(|c| ProcessInfo::from_words(c.try_into().expect("as long as asked for")))
            .collect()
    })
}

/// Numbers from a line.
pub fn parse_numbers<N: std::str::FromStr>(line: &str) -> Option<Vec<N>> {
    line.split_whitespace().map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_read_as_they_were_written() {
        let words = |from: u64| std::array::from_fn(|i| from + i as u64 * 0x1_0000_0001);
        let cards = [ProcessInfo::from_words(words(3)), ProcessInfo::from_words(words(u64::from(u32::MAX)))];
        let line = cards.iter().map(format_process_info).collect::<Vec<_>>().join(" ");
        assert_eq!(parse_process_infos(&line), Some(cards.to_vec()));
        assert_eq!(
            (parse_process_infos(""), parse_process_infos("1 2 3"), parse_process_infos("one")),
            (None, None, None)
        );
    }
}
