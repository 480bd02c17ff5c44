//! Each message is received, and each receive gets a message.

use super::leak;
use crate::finding::{Finding, Rule, Severity};
use crate::history::{History, Unfinished};
use crate::run::Run;

const CLAUSE: &str = "MPI 5.0, 11.2.2 Finalizing MPI";
const PROBED: &str = "MPI 5.0, 3.8.2 Matching Probe";

/// Looks at what is left when the ranks have entered MPI_Finalize.
pub fn check(run: &Run, findings: &mut Vec<Finding>) {
    // A receive of anything that is not complete may be for any message.
    let is_open = |history: &History| {
        let open = &run.matching.is_open[history.rank as usize];
        history.receives.iter().zip(open).any(|(receive, is_open)| *is_open && receive.completed.is_none())
    };
    let may_take: Vec<bool> = run.ranks.iter().map(is_open).collect();
    for (rank, history) in (0..).zip(&run.ranks).filter(|(rank, _)| run.is_whole(*rank)) {
        for (number, send) in (0..).zip(&history.sends).filter(|(_, send)| !send.is_cancelled) {
            let is_known =
                may_take.get(send.dest as usize).is_some_and(|may| !may) && run.is_whole(send.dest);
            if run.receive_of(rank, number).is_some() || !is_known || run.is_vague_send(rank, number) {
                continue;
            }
            let sentence = format!(
                "The message that {{0}} has sent to rank {} with tag {} was never received. Post a receive \
                 for it, or do not send it.",
                send.dest, send.tag
            );
            findings.push(finding(vec![run.place(rank, send.call)], sentence, CLAUSE));
        }
        for (number, receive) in (0..).zip(&history.receives) {
            if run.is_vague_receive(rank, number) {
                continue;
            }
            if receive.data.is_none() && receive.completed.is_some() && !receive.is_ignored {
                let sentence = "{0} has taken out a message that was never received. Pass it to MPI_Mrecv.";
                findings.push(finding(vec![run.place(rank, receive.call)], sentence.into(), PROBED));
            }
            if receive.is_freed && receive.completed.is_none() && run.send_of(rank, number).is_none() {
                findings.push(never(run, rank, number));
            }
        }
        for &(made, what) in &history.unfinished {
            match what {
                Unfinished::Receive(number) if run.is_vague_receive(rank, number) => {}
                Unfinished::Receive(number) if run.send_of(rank, number).is_none() => {
                    findings.push(never(run, rank, number));
                }
                what => findings.push(leak::request(history, made, what)),
            }
        }
    }
}

fn finding(places: Vec<crate::finding::Place>, sentence: String, clause: &'static str) -> Finding {
    Finding { rule: Rule::Unmatched, severity: Severity::Error, places, sentence, clause, more: 0 }
}

/// A receive that got nothing.
fn never(run: &Run, rank: u32, number: u32) -> Finding {
    let receive = &run.ranks[rank as usize].receives[number as usize];
    let from = match (receive.any_source, receive.source) {
        (true, _) => "any source".to_string(),
        (false, Some(source)) => format!("rank {source}"),
        (false, None) => "its source".to_string(),
    };
    let tag = receive.tag.map_or_else(|| "any tag".to_string(), |tag| format!("tag {tag}"));
    let sentence = format!(
        "The receive that {{0}} has posted, from {from} with {tag}, got no message before MPI_Finalize, and \
         was not cancelled. Send the message, or call MPI_Cancel and wait."
    );
    finding(vec![run.place(rank, receive.call)], sentence, CLAUSE)
}
