//! Tables of plain text that fit a width: columns move together first, then the least important ones go.

use std::ops::Range;
use tabled::Table as Grid;
use tabled::builder::Builder;
use tabled::grid::records::vec_records::Text;
use tabled::settings::formatting::Justification;
use tabled::settings::object::{Cell, Columns, Segment};
use tabled::settings::span::ColumnSpan;
use tabled::settings::{Alignment, Padding, Style};
use unicode_width::UnicodeWidthStr;

/// One column. Consecutive columns with the same `group` share a heading above their own.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The heading that the column shares with its neighbours; empty for none.
    pub group: &'static str,
    /// The column's own heading.
    pub head: &'static str,
    /// When the table is too wide, the column with the highest number goes first; 0 always stays.
    pub dispensable: u8,
}

/// The lines of a table, without line breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// One line, or two if columns are grouped.
    pub headings: Vec<String>,
    /// A line for each row, or two if the name of the row is too long to stand beside its values.
    pub rows: Vec<String>,
}

impl Table {
    /// The headings, then the rows.
    pub fn lines(self) -> impl Iterator<Item = String> {
        self.headings.into_iter().chain(self.rows)
    }
}

/// A name column that is squeezed keeps this width; a longer name gets a line of its own.
const SHORTEST_NAME: usize = 12;

/// Lays a table out. The first column is aligned left and holds names, the others are aligned right.
///
/// Each row has a cell for each column. No line is wider than `width` unless the columns that always stay
/// are. A name that is much longer than the others costs no column: it stands on a line of its own.
pub fn table(columns: &[Column], rows: &[Vec<String>], width: usize) -> Table {
    let names = rows.iter().map(|row| row[0].as_str()).chain([columns[0].head]);
    let widest_name = names.map(UnicodeWidthStr::width).max().unwrap_or(0);
    let squeezed_name = widest_name.min(SHORTEST_NAME.max(columns[0].head.width()));
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    let layout = loop {
        let fits = |layout: &Layout| layout.width_of_values(columns, rows) + squeezed_name <= width;
        let layouts = [2, 1].map(|gap| Layout { kept: kept.clone(), gap, name_width: 0 });
        if let Some(layout) = layouts.into_iter().find(fits) {
            break layout;
        }
        let droppable = (1..kept.len()).filter(|at| columns[kept[*at]].dispensable > 0);
        match droppable.max_by_key(|at| columns[kept[*at]].dispensable) {
            Some(at) => kept.remove(at),
            None => break Layout { kept, gap: 1, name_width: 0 },
        };
    };
    let room = width.saturating_sub(layout.width_of_values(columns, rows)).max(squeezed_name);
    Layout { name_width: widest_name.min(room), ..layout }.table(columns, rows)
}

/// How a table is laid out: which columns stay, how far they are apart, and the room for names.
struct Layout {
    kept: Vec<usize>,
    gap: usize,
    name_width: usize,
}

impl Layout {
    /// The width of everything beside the names.
    fn width_of_values(&self, columns: &[Column], rows: &[Vec<String>]) -> usize {
        self.grid(columns, rows, |_| String::new()).total_width()
    }

    fn table(&self, columns: &[Column], rows: &[Vec<String>]) -> Table {
        let padded = |name: &str| {
            let name = if name.width() > self.name_width { "" } else { name };
            format!("{name}{}", " ".repeat(self.name_width - name.width()))
        };
        let text = self.grid(columns, rows, padded).to_string();
        let mut lines = text.lines().map(|line| line.trim_end().to_string());
        let heading_lines = if self.has_groups(columns) { 2 } else { 1 };
        let headings = lines.by_ref().take(heading_lines).collect();
        let mut finished = Vec::with_capacity(rows.len());
        for (line, row) in lines.zip(rows) {
            if row[0].width() > self.name_width {
                finished.push(plain(&row[0]));
            }
            finished.push(line);
        }
        Table { headings, rows: finished }
    }

    /// The grid of cells, one line high each. `name` gives the first cell of a row, and of the heading.
    fn grid(&self, columns: &[Column], rows: &[Vec<String>], name: impl Fn(&str) -> String) -> Grid {
        let mut builder = Builder::default();
        if self.has_groups(columns) {
            builder.push_record(self.kept.iter().map(|_| ""));
        }
        let heads: Vec<String> = columns.iter().map(|column| column.head.to_string()).collect();
        for row in std::iter::once(&heads).chain(rows) {
            let cell = |(at, column): (usize, &usize)| {
                let text = plain(&row[*column]);
                if at == 0 { name(&text) } else { text }
            };
            builder.push_record(self.kept.iter().enumerate().map(cell));
        }
        let mut grid = builder.build();
        grid.with(Style::empty())
            .modify(Segment::all(), Padding::new(self.gap, 0, 0, 0))
            .modify(Segment::all(), Alignment::right())
            .modify(Columns::first(), Padding::zero())
            .modify(Columns::first(), Alignment::left());
        for group in self.groups(columns) {
            let heading = columns[self.kept[group.start]].group;
            if heading.is_empty() {
                continue;
            }
            let first = Cell::new(0, group.start);
            let room = self.width_of_group(&group, columns, rows);
            // Dashes show which columns a heading is of; where they would widen the table there are none.
            let (text, fill) = if heading.width() + 4 <= room {
                (format!(" {heading} "), '-')
            } else {
                (heading.to_string(), ' ')
            };
            grid.get_records_mut()[0][group.start] = Text::new(text);
            grid.modify(first, Alignment::center()).modify(first, Justification::new(fill));
            grid.modify(first, ColumnSpan::new(group.len() as isize));
        }
        grid
    }

    /// The width of these columns without their shared heading.
    fn width_of_group(&self, group: &Range<usize>, columns: &[Column], rows: &[Vec<String>]) -> usize {
        let widest = |column: &usize| {
            let cells = rows.iter().map(|row| row[*column].width());
            cells.chain([columns[*column].head.width()]).max().unwrap_or(0)
        };
        self.kept[group.clone()].iter().map(widest).sum::<usize>() + self.gap * (group.len() - 1)
    }

    fn has_groups(&self, columns: &[Column]) -> bool {
        self.kept.iter().any(|column| !columns[*column].group.is_empty())
    }

    /// Runs of columns with the same group; a column without a group stands alone.
    fn groups(&self, columns: &[Column]) -> Vec<Range<usize>> {
        let mut spans: Vec<Range<usize>> = Vec::new();
        for (at, column) in self.kept.iter().enumerate() {
            let group = columns[*column].group;
            match spans.last_mut() {
                Some(span) if !group.is_empty() && columns[self.kept[span.start]].group == group => {
                    span.end = at + 1;
                }
                _ => spans.push(at..at + 1),
            }
        }
        spans
    }
}

/// The text on one line.
fn plain(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        Column { group: "", head: "name", dispensable: 0 },
        Column { group: "sizes of all", head: "a", dispensable: 2 },
        Column { group: "sizes of all", head: "b", dispensable: 1 },
        Column { group: "", head: "c", dispensable: 0 },
    ];

    fn rows(name: &str) -> Vec<Vec<String>> {
        vec![
            ["x", "1", "22", "333"].map(String::from).to_vec(),
            [name, "4", "5", "6"].map(String::from).to_vec(),
        ]
    }

    fn lines(name: &str, width: usize) -> Vec<String> {
        table(COLUMNS, &rows(name), width).lines().collect()
    }

    #[test]
    fn columns_line_up_under_their_group() {
        let found = table(COLUMNS, &rows("yy"), 80);
        assert_eq!(found.headings.len(), 2);
        assert_eq!(
            found.lines().collect::<Vec<_>>(),
            [
                "      sizes of all", //
                "name      a      b    c",
                "x         1     22  333",
                "yy        4      5    6",
            ]
        );
    }

    #[test]
    fn a_heading_shows_which_columns_it_is_of() {
        let wide = ["x", "1,234,567", "22,000,000", "333"].map(String::from).to_vec();
        assert_eq!(table(COLUMNS, &[wide], 80).headings[0], "      --- sizes of all ----");
    }

    #[test]
    fn a_long_name_gets_its_own_line() {
        let lines = lines("a_very_long_name_indeed", 34);
        assert_eq!(lines[3], "a_very_long_name_indeed");
        assert!(lines[4].starts_with("     "), "{}", lines[4]);
        assert!(lines.iter().all(|line| line.width() <= 34));
    }

    #[test]
    fn columns_go_when_there_is_no_room() {
        // First they move together, then the most dispensable goes.
        assert_eq!(lines("yy", 21).last().unwrap(), "yy       4      5   6");
        assert_eq!(lines("yy", 20), ["name    c", "x     333", "yy      6"].map(String::from));
    }

    #[test]
    fn any_text_keeps_to_its_line() {
        for name in ["", "two\nlines", "tab\there", "\u{1b}[31mred", "漢字", "\u{200b}\u{202e}x"] {
            let found = table(COLUMNS, &rows(name), 80);
            assert_eq!(found.rows.len(), 2, "{name:?}: {:?}", found.rows);
        }
        assert_eq!(table(COLUMNS, &[], 80).rows.len(), 0);
        assert_eq!(table(&COLUMNS[..1], &[vec!["x".into()]], 80).rows, ["x"]);
    }
}
