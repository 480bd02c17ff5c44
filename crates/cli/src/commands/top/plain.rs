//! What `evenkeel top --once` prints.

use super::rows::{self, COLUMNS, Row};
use crate::jobs::discovery::Job;
use crate::jobs::watch::JobView;
use evenkeel_text::page::Page;
use evenkeel_text::units::{plain, plural};

/// The longest command line that is shown.
const PROGRAM_LENGTH: usize = 60;

/// The line that says which job this is.
pub fn title(job: &Job) -> String {
    let ranks = if job.ranks.len() == job.ranks_in_all {
        plural(job.ranks_in_all as u64, "rank", "ranks")
    } else {
        format!("{} of {} here", job.ranks.len(), plural(job.ranks_in_all as u64, "rank", "ranks"))
    };
    let library = job.library().unwrap_or("an unknown MPI library".into());
    format!("Job {}: {ranks}, {library}: {}", job.id, plain(&job.program(), PROGRAM_LENGTH))
}

/// One table, and the sentences.
pub fn text(title: &str, view: &JobView, rows: &[Row], width: usize) -> String {
    let mut page = Page::new(width);
    page.paragraph(title).paragraph(&rows::summary(view)).blank();
    page.table(&COLUMNS, &rows.iter().map(|row| row.cells.clone()).collect::<Vec<_>>());
    if !view.findings.is_empty() {
        page.blank();
        view.findings.iter().for_each(|finding| {
            page.hanging(&finding.sentence);
        });
    }
    page.text()
}
