//! Draws a job on the terminal: a title, the table, the sentences about ranks that hold up others, the keys.

use super::control::Control;
use super::rows::{COLUMNS, Emphasis, Row};
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::table;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

/// What is to be drawn.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// Which job it is.
    pub title: String,
    /// What all ranks do together.
    pub summary: String,
    /// The rows, in their order.
    pub rows: Vec<Row>,
    /// The sentences below.
    pub sentences: Vec<String>,
    /// NO_COLOR is not set.
    pub has_colours: bool,
}

const KEYS: &str = "q leave  r w c h s sort  up down home end scroll  + - interval  space pause";

/// Draws. Returns how many rows there is room for.
pub fn draw(frame: &mut Frame, picture: &Picture, control: &Control) -> usize {
    let area = frame.area();
    let width = usize::from(area.width);
    let sentences = sentences(picture, width, usize::from(area.height) / 3);
    let [title, summary, table_area, below, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(2),
        Constraint::Length(sentences.len() as u16),
        Constraint::Length(1),
    ])
    .areas(area);
    let reverse = Style::new().add_modifier(Modifier::REVERSED);
    frame.render_widget(Line::styled(format!("{:width$}", picture.title), reverse), title);
    let shown = usize::from(table_area.height).saturating_sub(1);
    let last = (control.first + shown).min(picture.rows.len());
    let rows = match picture.rows.len() {
        0 => "looking …".to_string(),
        count if count > shown => format!("rows {}-{last} of {count}", control.first + 1),
        _ => String::new(),
    };
    let interval = format!("every {} s", control.interval.as_secs_f64());
    let parts = [
        picture.summary.clone(),
        format!("by {}{}", control.order.words(), if control.is_reversed { ", reversed" } else { "" }),
        if control.stands_still { "standing still".into() } else { interval },
        rows,
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    frame.render_widget(Line::raw(parts.join("; ")), summary);
    if !picture.rows.is_empty() {
        draw_rows(frame, table_area, picture, control.first..last);
    }
    frame.render_widget(ratatui::text::Text::from(sentences), below);
    frame.render_widget(Line::styled(KEYS, Style::new().add_modifier(Modifier::DIM)), keys);
    shown
}

fn draw_rows(frame: &mut Frame, area: Rect, picture: &Picture, shown: std::ops::Range<usize>) {
    // All rows take part in the layout, so that columns stay where they are while the user scrolls.
    let cells: Vec<Vec<String>> = picture.rows.iter().map(|row| row.cells.clone()).collect();
    let laid_out = table(&COLUMNS, &cells, usize::from(area.width));
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut lines = vec![Line::styled(laid_out.headings.join(" "), bold)];
    let rows = laid_out.rows.into_iter().zip(&picture.rows).skip(shown.start).take(shown.len());
    lines.extend(rows.map(|(text, row)| Line::styled(text, style(row.emphasis, picture.has_colours))));
    frame.render_widget(ratatui::text::Text::from(lines), area);
}

fn style(emphasis: Emphasis, has_colours: bool) -> Style {
    let colour = |style: Style, colour| if has_colours { style.fg(colour) } else { style };
    match emphasis {
        Emphasis::Culprit => colour(Style::new().add_modifier(Modifier::BOLD), Color::Red),
        Emphasis::Waits => colour(Style::new(), Color::Cyan),
        Emphasis::None => Style::new(),
    }
}

/// The sentences in as many lines as there are; of those that do not fit only the number is said.
fn sentences(picture: &Picture, width: usize, most: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<String> = Vec::new();
    for (at, sentence) in picture.sentences.iter().enumerate() {
        let wrapped = wrap(sentence, width, "  ");
        let is_last = at + 1 == picture.sentences.len();
        if lines.len() + wrapped.len() + usize::from(!is_last) > most {
            lines.push(format!("… {} more: `evenkeel where`", picture.sentences.len() - at));
            break;
        }
        lines.extend(wrapped);
    }
    lines.into_iter().map(Line::raw).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rows::{Order, rows, summary, tests};
    use super::*;
    use crate::jobs::watch::JobView;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use std::time::Duration;

    fn picture(view: &JobView) -> Picture {
        Picture {
            title: "Job 7: 3 ranks, MPICH 4.0: ./app".into(),
            summary: summary(view),
            rows: rows(view, Order::Rank, false),
            sentences: vec!["Rank 1 has not called MPI_Allreduce on world.".into(); 9],
            has_colours: true,
        }
    }

    fn drawn(size: (u16, u16), picture: &Picture, control: &Control) -> (Vec<String>, usize) {
        let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
        let mut shown = 0;
        terminal.draw(|frame| shown = draw(frame, picture, control)).unwrap();
        let cells = terminal.backend().buffer().content();
        let line = |cells: &[ratatui::buffer::Cell]| {
            cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_string()
        };
        (cells.chunks(usize::from(size.0)).map(line).collect(), shown)
    }

    fn control() -> Control {
        Control::new(Order::Rank, Duration::from_secs(1))
    }

    #[test]
    fn a_screen_of_24_lines_shows_ranks_sentences_and_keys() {
        let (lines, shown) = drawn((80, 24), &picture(&tests::view()), &control());
        assert!(lines[0].starts_with("Job 7: 3 ranks"), "{lines:#?}");
        assert!(lines[1].contains("60% of the ranks' time in MPI calls") && lines[1].contains("every 1 s"));
        assert!(lines[2].starts_with("rank") && lines[2].ends_with("holds up"), "{lines:#?}");
        assert!(lines[3].contains("MPI_Allreduce") && lines[4].ends_with('2'));
        assert_eq!(lines[22], "… 2 more: `evenkeel where`");
        assert!(lines[23].starts_with("q leave"));
        assert_eq!(shown, 12);
    }

    #[test]
    fn hundreds_of_ranks_are_scrolled_through() {
        let ranks = (0..300).map(|number| tests::rank(number, tests::allreduce(1.0))).collect();
        let picture = picture(&JobView { ranks, ranks_in_all: 300, findings: Vec::new() });
        let (lines, shown) = drawn((120, 40), &picture, &Control { first: 270, ..control() });
        assert!(lines[1].ends_with("rows 271-297 of 300"), "{lines:#?}");
        assert_eq!(shown, 27);
        assert!(lines[3].starts_with("270 ") && lines[3 + shown - 1].starts_with("296 "));
    }

    #[test]
    fn a_small_terminal_and_no_ranks_do_no_harm() {
        for size in [(1, 1), (20, 3), (5, 60), (300, 2)] {
            drawn(size, &picture(&tests::view()), &Control { first: 2, ..control() });
            drawn(size, &Picture::default(), &control());
        }
    }
}
