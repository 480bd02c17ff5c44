//! Tables of plain text that fit a width: columns move together, long names get their own line, columns go.

/// One column. Consecutive columns with the same `group` share a heading above their own.
#[derive(Clone, Copy)]
pub struct Column {
    pub group: &'static str,
    pub head: &'static str,
    /// When the table is too wide the column with the lowest rank goes first; 0 always stays.
    pub dispensable: u8,
}

/// Lines of the table: headings (how many is returned too), then the rows. The first column is aligned
/// left and holds names, the others are aligned right. Nothing is wider than `width`, unless the
/// undroppable is.
pub fn table(columns: &[Column], rows: &[Vec<String>], width: usize) -> (usize, Vec<String>) {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    let cell = |row: usize, column: usize| rows[row][column].as_str();
    let column_width = |c: usize| {
        let widest = (0..rows.len()).map(|r| chars(cell(r, c))).max().unwrap_or(0);
        widest.max(chars(columns[c].head))
    };
    // A name much longer than the others must not cost columns: it may stand on a line of its own.
    let shortest_name = 12.max(chars(columns[0].head)).min(column_width(0));
    let widths_with = |kept: &[usize], gap: usize| {
        let mut widths: Vec<usize> = kept.iter().map(|c| column_width(*c)).collect();
        // A group's heading may be wider than its columns.
        for group in groups(columns, kept) {
            let inner: usize = widths[group.clone()].iter().sum::<usize>() + gap * (group.len() - 1);
            widths[group.end - 1] += chars(columns[kept[group.start]].group).saturating_sub(inner);
        }
        widths
    };
    let values = |widths: &[usize], gap: usize| widths[1..].iter().map(|w| w + gap).sum::<usize>();
    let (gap, mut widths) = loop {
        let fitting = [2, 1].into_iter().map(|gap| (gap, widths_with(&kept, gap)));
        if let Some(found) = fitting.clone().find(|(gap, w)| values(w, *gap) + shortest_name <= width) {
            break found;
        }
        match (1..kept.len())
            .filter(|i| columns[kept[*i]].dispensable > 0)
            .max_by_key(|i| columns[kept[*i]].dispensable)
        {
            Some(worst) => kept.remove(worst),
            None => break (1, widths_with(&kept, 1)),
        };
    };
    widths[0] = widths[0].min(width.saturating_sub(values(&widths, gap)).max(shortest_name));

    let mut lines = Vec::new();
    let spans = groups(columns, &kept);
    if spans.iter().any(|g| !columns[kept[g.start]].group.is_empty()) {
        let mut line = String::new();
        for g in spans {
            let inner: usize = widths[g.clone()].iter().sum::<usize>() + gap * (g.len() - 1);
            if g.start > 0 {
                line.push_str(&" ".repeat(gap));
            }
            line.push_str(&centred(columns[kept[g.start]].group, inner));
        }
        lines.push(line.trim_end().to_string());
    }
    let render = |cells: Vec<&str>| {
        let mut line = String::new();
        for (i, text) in cells.iter().enumerate() {
            let pad = " ".repeat(widths[i].saturating_sub(chars(text)));
            if i == 0 {
                line.push_str(&format!("{text}{pad}"));
            } else {
                line.push_str(&format!("{}{pad}{text}", " ".repeat(gap)));
            }
        }
        line.trim_end().to_string()
    };
    lines.push(render(kept.iter().map(|c| columns[*c].head).collect()));
    let headings = lines.len();
    for r in 0..rows.len() {
        let mut cells: Vec<&str> = kept.iter().map(|c| cell(r, *c)).collect();
        if chars(cells[0]) > widths[0] {
            lines.push(cells[0].to_string());
            cells[0] = "";
        }
        lines.push(render(cells));
    }
    (headings, lines)
}

/// Runs of kept columns with the same group; columns without one stand alone.
fn groups(columns: &[Column], kept: &[usize]) -> Vec<std::ops::Range<usize>> {
    let mut spans: Vec<std::ops::Range<usize>> = Vec::new();
    for i in 0..kept.len() {
        let group = columns[kept[i]].group;
        match spans.last_mut() {
            Some(s) if !group.is_empty() && columns[kept[s.start]].group == group => s.end = i + 1,
            _ => spans.push(i..i + 1),
        }
    }
    spans
}

/// `-- text --` filling `width`.
fn centred(text: &str, width: usize) -> String {
    let free = width.saturating_sub(chars(text));
    if text.is_empty() {
        return " ".repeat(width);
    }
    if free < 4 {
        return format!("{}{text}", " ".repeat(free));
    }
    let left = (free - 2) / 2;
    format!("{} {text} {}", "-".repeat(left), "-".repeat(free - 2 - left))
}

/// Breaks a paragraph into lines of at most `width` characters; lines after the first start with `indent`.
pub fn wrap(text: &str, width: usize, indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        let room = if line.is_empty() { 0 } else { chars(&line) + 1 };
        if room > 0 && room + chars(word) > width && line != indent {
            lines.push(std::mem::take(&mut line));
            line.push_str(indent);
        }
        if !line.is_empty() && line != indent {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.into_iter().map(|l| l.replace(FIRM_SPACE, " ")).collect()
}

/// A space that [`wrap`] does not break at: a number stays with its unit.
const FIRM_SPACE: char = '\u{a0}';

/// The text with its spaces made firm for [`wrap`].
pub fn firm(text: String) -> String {
    text.replace(' ', &FIRM_SPACE.to_string())
}

pub fn chars(text: &str) -> usize {
    text.chars().count()
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

    #[test]
    fn columns_line_up_under_their_group() {
        let (headings, lines) = table(COLUMNS, &rows("yy"), 80);
        assert_eq!(headings, 2);
        assert_eq!(
            lines,
            [
                "      sizes of all", //
                "name  a          b    c",
                "x     1         22  333",
                "yy    4          5    6",
            ]
        );
    }

    #[test]
    fn a_long_name_gets_its_own_line() {
        let (_, lines) = table(COLUMNS, &rows("a_very_long_name_indeed"), 34);
        assert_eq!(lines[3], "a_very_long_name_indeed");
        assert!(lines[4].starts_with("     "), "{}", lines[4]);
        assert!(lines.iter().all(|l| chars(l) <= 34));
    }

    #[test]
    fn columns_go_when_there_is_no_room() {
        // First they move together, then the most dispensable goes.
        assert_eq!(table(COLUMNS, &rows("yy"), 21).1.last().unwrap(), "yy   4          5   6");
        assert_eq!(
            table(COLUMNS, &rows("yy"), 20).1,
            ["name    c", "x     333", "yy      6"].map(String::from)
        );
    }

    #[test]
    fn paragraphs_wrap() {
        assert_eq!(wrap("one two three four", 9, "  "), ["one two", "  three", "  four"]);
        assert_eq!(wrap("unbreakablelongword next", 5, ""), ["unbreakablelongword", "next"]);
        assert_eq!(wrap("", 5, ""), [""]);
        assert_eq!(wrap(&format!("took {} more", firm("12 ms".into())), 8, ""), ["took", "12 ms", "more"]);
    }
}
