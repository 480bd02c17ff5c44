//! The text of the summary while it is written: lines of a limited width, with or without colour.

use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::{Column, table};

const BOLD: &str = "1";
const DIM: &str = "2";
const NORMAL: &str = "";

/// The text so far, and how to add to it.
pub(super) struct SummaryText {
    /// The most characters of a line.
    width: usize,
    colour: bool,
    pub(super) text: String,
}

impl SummaryText {
    pub(super) fn new(width: usize, colour: bool) -> SummaryText {
        SummaryText { width, colour, text: String::new() }
    }

    /// The first sentences, in bold.
    pub(super) fn headline(&mut self, text: &str) {
        wrap(text, self.width, "  ").iter().for_each(|line| self.line(BOLD, line));
    }

    /// A paragraph whose further lines are indented.
    pub(super) fn paragraph(&mut self, text: &str) {
        wrap(text, self.width, "  ").iter().for_each(|line| self.line(NORMAL, line));
    }

    /// The explanation of a table.
    pub(super) fn legend(&mut self, text: &str) {
        wrap(text, self.width, "").iter().for_each(|line| self.line(DIM, line));
    }

    /// A table between empty lines.
    pub(super) fn table(&mut self, columns: &[Column], rows: &[Vec<String>]) {
        let table = table(columns, rows, self.width);
        if !self.text.ends_with("\n\n") {
            self.line(NORMAL, "");
        }
        table.headings.iter().for_each(|line| self.line(DIM, line));
        table.rows.iter().for_each(|line| self.line(NORMAL, line));
        self.line(NORMAL, "");
    }

    fn line(&mut self, style: &str, line: &str) {
        if self.colour && !style.is_empty() && !line.is_empty() {
            self.text.push_str(&format!("\x1b[{style}m{line}\x1b[0m\n"));
        } else {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }
}
