//! The rows of a table that shows the first of many things.

use evenkeel_text::units::plural;

/// What a table shows of each thing.
pub(super) struct RowText<'a, T> {
    /// The name of one.
    pub(super) name: &'a dyn Fn(&T) -> String,
    /// The name of those that have no row of their own: of one, of several.
    pub(super) others: (&'a str, &'a str),
    /// The values of one or several together.
    pub(super) values: &'a dyn Fn(&[T]) -> Vec<String>,
}

/// A row for each of the first `shown` things, and one for all others together.
pub(super) fn rows<T>(all: &[T], shown: usize, text: &RowText<T>) -> Vec<Vec<String>> {
    let row = |name: String, things: &[T]| [vec![name], (text.values)(things)].concat();
    let (first, others) = all.split_at(all.len().min(shown));
    let mut rows: Vec<Vec<String>> = first.chunks(1).map(|one| row((text.name)(&one[0]), one)).collect();
    if !others.is_empty() {
        rows.push(row(plural(others.len() as u64, text.others.0, text.others.1), others));
    }
    rows
}
