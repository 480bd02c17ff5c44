//! Requests are completed, and what was made is freed, before `MPI_Finalize`.

use super::handle::noun;
use crate::finding::{Finding, Rule, Severity};
use crate::history::{CallIndex, History, Unfinished};

const REQUESTS: &str = "MPI 5.0, 11.2.2 Finalizing MPI";
const FILES: &str = "MPI 5.0, 14.2.1 Opening a File";
const OBJECTS: &str = "MPI 5.0, 11.2.2 Finalizing MPI (it does not free objects)";

/// A request was active in MPI_Finalize. `is_matched`: of a receive, its message was sent.
pub fn request(history: &History, made: CallIndex, what: Unfinished) -> Finding {
    let of = match what {
        Unfinished::Send(_) => "send",
        Unfinished::Receive(_) => "receive, whose message was sent,",
        Unfinished::Other => "operation",
    };
    Finding {
        rule: Rule::Leak,
        severity: Severity::Error,
        places: vec![history.place(made)],
        sentence: format!(
            "The {of} that {{0}} has started was not completed before MPI_Finalize. Wait for its request."
        ),
        clause: REQUESTS,
        more: 0,
    }
}

/// Something that was made was not freed.
pub fn object(history: &History, made: CallIndex, kind: u8) -> Finding {
    let noun = noun(kind);
    let is_file = kind == b'f';
    let sentence = match kind {
        b'f' => {
            "The file that {0} has opened was not closed before MPI_Finalize. Call MPI_File_close.".into()
        }
        b'q' => "The persistent request that {0} has made was not freed before MPI_Finalize. Call \
                 MPI_Request_free."
            .into(),
        _ => format!("The {noun} that {{0}} has made was not freed before MPI_Finalize."),
    };
    Finding {
        rule: Rule::Leak,
        severity: if is_file { Severity::Error } else { Severity::Note },
        places: vec![history.place(made)],
        sentence,
        clause: if is_file { FILES } else { OBJECTS },
        more: 0,
    }
}
