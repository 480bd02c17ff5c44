//! A picture as text for the terminal: a column for each rank, and messages that do not cross on one
//! line.

use super::content::{Arrow, Picture, Purpose};

/// The picture in lines no wider than `width` characters. None if the ranks do not fit.
pub fn text(picture: &Picture, width: usize) -> Option<String> {
    let ranks = picture.schedule.problem.ranks as usize;
    let digits = (ranks - 1).to_string().len();
    let margin = format!("round {} ", picture.rounds).len();
    let step =
        [4, 3, 2].into_iter().find(|step| *step > digits && margin + digits + (ranks - 1) * step <= width)?;
    let column = |rank: usize| margin + digits - 1 + rank * step;
    let mut lines = vec![picture.title(), String::new()];
    let mut heads = vec![' '; column(ranks - 1) + 1];
    for rank in 0..ranks {
        let number = rank.to_string();
        number.chars().rev().enumerate().for_each(|(i, c)| heads[column(rank) - i] = c);
    }
    lines.push(heads.into_iter().collect());
    let empty = || {
        let mut line = vec![' '; column(ranks - 1) + 1];
        (0..ranks).for_each(|rank| line[column(rank)] = '│');
        line
    };
    for round in 1..=picture.rounds {
        let mut drawn: Vec<Line> = Vec::new();
        for arrow in picture.arrows.iter().filter(|a| a.round == round) {
            match drawn.iter_mut().find(|line| line.fits(arrow)) {
                Some(line) => line.add(arrow),
                None => drawn.push(Line::new(ranks, arrow)),
            }
        }
        lines.push(empty().into_iter().collect());
        for (i, line) in drawn.iter().enumerate() {
            let mut cells = empty();
            line.arrows.iter().for_each(|arrow| draw(&mut cells, arrow, column));
            let head = format!("round {round}");
            if i == 0 {
                head.chars().enumerate().for_each(|(i, c)| cells[i] = c);
            }
            lines.push(cells.into_iter().collect());
        }
    }
    lines.push(empty().into_iter().collect());
    lines.push(String::new());
    lines.push(legend(picture));
    Some(lines.iter().map(|line| format!("{}\n", line.trim_end())).collect())
}

/// Arrows on one line: their spans do not touch.
struct Line<'a> {
    taken: Vec<bool>,
    arrows: Vec<&'a Arrow>,
}

impl<'a> Line<'a> {
    fn new(ranks: usize, arrow: &'a Arrow) -> Line<'a> {
        let mut line = Line { taken: vec![false; ranks], arrows: Vec::new() };
        line.add(arrow);
        line
    }
    fn fits(&self, arrow: &Arrow) -> bool {
        let (first, last) = span(arrow);
        self.taken[first..=last].iter().all(|t| !t)
    }
    fn add(&mut self, arrow: &'a Arrow) {
        let (first, last) = span(arrow);
        self.taken[first..=last].fill(true);
        self.arrows.push(arrow);
    }
}

/// The lowest and the highest rank that an arrow touches.
fn span(arrow: &Arrow) -> (usize, usize) {
    let all = arrow.to.iter().chain([&arrow.from]).map(|r| r.0 as usize);
    (all.clone().min().expect("it has ends"), all.max().expect("it has ends"))
}

fn draw(cells: &mut [char], arrow: &Arrow, column: impl Fn(usize) -> usize) {
    let stroke = match arrow.purpose {
        Purpose::Flag => '─',
        Purpose::Data | Purpose::Repeat | Purpose::Shared => '━',
        Purpose::Count => '╌',
        Purpose::Answer => '·',
        Purpose::Acknowledgement => '┄',
    };
    let (first, last) = span(arrow);
    cells[column(first)..=column(last)]
        .iter_mut()
        .filter(|c| **c == ' ' || **c == '│')
        .for_each(|c| *c = stroke);
    let from = arrow.from.0 as usize;
    for to in arrow.to.iter().map(|r| r.0 as usize) {
        cells[column(to)] = if to > from { '▶' } else { '◀' };
    }
    cells[column(from)] = if arrow.purpose == Purpose::Repeat { '○' } else { '●' };
}

fn legend(picture: &Picture) -> String {
    let shown: Vec<String> = picture
        .purposes()
        .into_iter()
        .map(|purpose| {
            let stroke = match purpose {
                Purpose::Flag => "●──▶",
                Purpose::Data | Purpose::Shared => "●━━▶",
                Purpose::Repeat => "○━━▶",
                Purpose::Count => "●╌╌▶",
                Purpose::Answer => "●··▶",
                Purpose::Acknowledgement => "●┄┄▶",
            };
            format!("{stroke} {}", purpose.name())
        })
        .collect();
    shown.join("   ")
}
