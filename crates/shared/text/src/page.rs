//! A report put together from paragraphs and tables.

use crate::paragraph::wrap;
use crate::table::{Column, table};

/// Widths in which a report is laid out. On a narrower terminal lines break, on a wider one paragraphs
/// would be too long to read.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=160;

/// A report under construction: lines of at most one width.
#[derive(Clone, Debug)]
pub struct Page {
    width: usize,
    lines: Vec<String>,
}

impl Page {
    /// An empty page for a terminal of this many columns; at least 40 and at most 160 are used.
    pub fn new(terminal_width: usize) -> Page {
        Page { width: terminal_width.clamp(*WIDTHS.start(), *WIDTHS.end()), lines: Vec::new() }
    }

    /// The columns that lines may have.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: &str) -> &mut Page {
        self.lines.extend(wrap(text, self.width, ""));
        self
    }

    /// Adds a paragraph whose lines after the first are indented by two columns.
    pub fn hanging(&mut self, text: &str) -> &mut Page {
        self.lines.extend(wrap(text, self.width, "  "));
        self
    }

    /// Adds a line as it is, however long.
    pub fn line(&mut self, text: impl Into<String>) -> &mut Page {
        self.lines.push(text.into());
        self
    }

    /// Adds an empty line.
    pub fn blank(&mut self) -> &mut Page {
        self.line("")
    }

    /// Adds a table.
    pub fn table(&mut self, columns: &[Column], rows: &[Vec<String>]) -> &mut Page {
        self.lines.extend(table(columns, rows, self.width).lines());
        self
    }

    /// The text, which ends with a line break.
    pub fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_stands_in_its_order_and_fits() {
        let columns = [Column { group: "", head: "name", dispensable: 0 }];
        let mut page = Page::new(10);
        page.hanging(&"word ".repeat(20)).blank().table(&columns, &[vec!["x".into()]]).paragraph("end");
        let text = page.text();
        assert!(text.contains("\n  word") && text.ends_with("\n\nname\nx\nend\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 40) && page.width() == 40);
    }
}
