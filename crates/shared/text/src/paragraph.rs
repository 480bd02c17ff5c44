//! Paragraphs broken into lines.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// A space at which no line is broken.
const FIRM_SPACE: char = '\u{a0}';

/// Breaks a paragraph into lines of at most `width` columns. Lines after the first begin with `indent`.
///
/// A word that is longer than `width`, such as a path, gets a line of its own and is not broken.
pub fn wrap(text: &str, width: usize, indent: &str) -> Vec<String> {
    let options = Options::new(width)
        .subsequent_indent(indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    textwrap::wrap(&text, options).into_iter().map(|line| line.replace(FIRM_SPACE, " ")).collect()
}

/// The text with spaces at which [`wrap`] does not break: a number stays beside its unit.
pub fn firm(text: String) -> String {
    text.replace(' ', &FIRM_SPACE.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_that_are_not_firm() {
        assert_eq!(wrap("one two three four", 9, "  "), ["one two", "  three", "  four"]);
        assert_eq!(wrap("unbreakablelongword next", 5, ""), ["unbreakablelongword", "next"]);
        assert_eq!(wrap("see --no-such-option", 8, ""), ["see", "--no-such-option"]);
        assert_eq!(wrap("", 5, ""), [""]);
        assert_eq!(wrap("two  spaces", 50, ""), ["two spaces"]);
        assert_eq!(wrap(&format!("took {} more", firm("12 ms".into())), 8, ""), ["took", "12 ms", "more"]);
    }
}
