//! The summary for the terminal: one sentence, tables of operations, communicators, messages and late ranks,
//! memory, notes.
//!
//! May use the digest, tables and units. It must never let a control character of the record reach the
//! terminal, nor print lines wider than it was told to.

mod barriers;
mod communicators;
mod headline;
mod host_calls;
mod late_ranks;
mod messages;
mod operations;
mod output;
mod rows;

use crate::aggregate::digest;
use crate::digest::{Digest, Note};
use evenkeel_record::RunRecord;
use evenkeel_text::units::{bytes, plain, plural, rank_ranges};
use output::SummaryText;

/// The summary as text that ends with a newline.
///
/// No line is longer than `width` characters (40 to 160), except for single words that are. The only
/// characters beyond ASCII are those of names in the record, and the `µ` of µs. With `colour`, escape
/// sequences make the headline bold and headings dim.
pub fn summary(run: &RunRecord, width: usize, colour: bool) -> String {
    let d = digest(run);
    let mut out = SummaryText::new(width.clamp(40, 160), colour);
    out.headline(&headline::headline(&d));
    if !d.ops.is_empty() && d.calls > 0 {
        operations::operations(&d, &mut out);
    }
    communicators::communicators(&d, &mut out);
    messages::messages(&d, &mut out);
    late_ranks::late_ranks(&d, &mut out);
    if !d.ops.is_empty() && d.calls > 0 {
        barriers::deferred(&d, &mut out);
        barriers::scheduled(&d, &mut out);
    }
    host_calls::host_calls(&d, &mut out);
    memory(&d, &mut out);
    d.notes.iter().for_each(|n| note(&d, n, &mut out));
    out.text
}

fn memory(d: &Digest, out: &mut SummaryText) {
    if d.segment_bytes == 0 {
        return;
    }
    let served = d.comms.iter().filter(|c| c.segment_bytes > 0).count() as u64;
    let most = if served == 1 { "" } else { "at most " };
    out.paragraph(&format!(
        "Shared memory: {} for {}, {most}{} per member.",
        bytes(d.segment_bytes),
        plural(served, "communicator", "communicators"),
        bytes(d.segment_bytes_per_member)
    ));
}

fn note(d: &Digest, note: &Note, out: &mut SummaryText) {
    let heading = if note.ranks.len() == d.ranks.len() {
        "Note".to_string()
    } else {
        let ranks = if note.ranks.len() == 1 { "rank" } else { "ranks" };
        format!("Note from {ranks} {}", rank_ranges(&note.ranks))
    };
    out.paragraph(&format!("{heading}: {}", plain(&note.text, 2000)));
}
