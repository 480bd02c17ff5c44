//! Everything about one call.

use super::question::{Question, Wrong};
use crate::analysis::Analysis;
use crate::functions::Needs;
use crate::messages::Message;
use crate::path::{Doing, Segment};
use crate::run::{Place, Run};
use crate::sentences;
use crate::why;
use evenkeel_trace::times::shape::{
    ANY, ANY_SOURCE, ANY_TAG, Envelope, FAILED, NO_TAG, PROC_NULL, ROOT, Role,
};
use serde_json::{Value, json};

/// More messages or members of one call are only counted.
const MOST_LISTED: usize = 200;

fn asked(run: &Run, question: &Question) -> Result<Place, Wrong> {
    run.place(question.index("lane")?, question.index("call")?).ok_or(Wrong::NoSuchCall)
}

/// A call as a reference to it.
pub(super) fn reference(run: &Run, place: Place) -> Value {
    json!({
        "lane": place.lane, "call": place.call, "begin": run.begin(place), "end": run.end(place),
        "name": run.name(place), "site": run.site(place),
    })
}

/// What is known of it.
pub(super) fn call(analysis: &Analysis, question: &Question) -> Result<Value, Wrong> {
    let run = &analysis.run;
    let place = asked(run, question)?;
    let shape = run.shape(place);
    let mut facts: Vec<(String, String)> = Vec::new();
    if let Some(comm) = shape.comm {
        let ranks =
            run.communicators[comm as usize].members.len() + run.communicators[comm as usize].remote.len();
        facts.push((
            "communicator".into(),
            format!("{} ({ranks} ranks)", run.communicators[comm as usize].name),
        ));
    }
    envelope(run, &mut facts, shape.comm, shape.role, &shape.first, "");
    if let Some(second) = shape.second.filter(|_| shape.role != Role::Collective) {
        envelope(run, &mut facts, shape.comm, shape.role, &second, "received ");
    }
    let wildcards = [(ANY_SOURCE, "MPI_ANY_SOURCE"), (ANY_TAG, "MPI_ANY_TAG")];
    let asked_for: Vec<&str> = wildcards.iter().filter(|it| shape.marks & it.0 != 0).map(|it| it.1).collect();
    if !asked_for.is_empty() {
        facts.push(("asked for".into(), asked_for.join(", ")));
    }
    if shape.marks & FAILED != 0 {
        facts.push(("failed".into(), "it returned an error".into()));
    }
    let lane = &run.lanes[place.lane as usize];
    let is_open = lane.is_open && place.call as usize + 1 == lane.calls();
    if is_open {
        facts.push(("ended".into(), "never: the rank ended in this call".into()));
    }
    let messages = &run.messages;
    let only = place.call..place.call + 1;
    let taken = messages.taken(place.lane, only.clone());
    let sent: Vec<&Message> = messages.sent(place.lane, only).collect();
    let listed = |all: &mut dyn Iterator<Item = &Message>, other: fn(&Message) -> Place| -> Vec<Value> {
        all.take(MOST_LISTED)
            .map(|it| json!({"bytes": it.length(), "other": reference(run, other(it))}))
            .collect()
    };
    Ok(json!({
        "lane": place.lane, "call": place.call, "begin": run.begin(place), "end": run.end(place),
        "name": run.name(place), "site": run.site(place), "site_number": shape.site,
        "waited": analysis.waits.length(run, place), "facts": facts,
        "taken": listed(&mut taken.iter(), |it| it.sent), "taken_count": taken.len(),
        "sent": listed(&mut sent.iter().copied(), |it| it.taken), "sent_count": sent.len(),
        "collective": collective(analysis, place),
    }))
}

fn envelope(
    run: &Run,
    facts: &mut Vec<(String, String)>,
    comm: Option<u32>,
    role: Role,
    envelope: &Envelope,
    of: &str,
) {
    let special = |number: i32, any: &str| match number {
        ANY => Some(any.to_string()),
        PROC_NULL => Some("MPI_PROC_NULL".into()),
        ROOT => Some("MPI_ROOT".into()),
        number if number >= 0 => Some(number.to_string()),
        _ => None,
    };
    if let Some(peer) = special(envelope.peer, "MPI_ANY_SOURCE") {
        let name = if role == Role::Collective { "root" } else { "peer" };
        let world = comm.and_then(|comm| run.world_rank(comm, envelope.peer));
        let world = world.filter(|&world| i64::from(world) != i64::from(envelope.peer));
        let world = world.map_or_else(String::new, |world| format!(" (rank {world} of the world)"));
        facts.push((format!("{of}{name}"), format!("{peer}{world}")));
    }
    if envelope.tag != NO_TAG {
        if let Some(tag) = special(envelope.tag, "MPI_ANY_TAG") {
            facts.push((format!("{of}tag"), tag));
        }
    }
    if let Some(bytes) = envelope.bytes {
        facts.push((format!("{of}bytes"), evenkeel_text::units::count(bytes)));
    }
}

/// The collective that a call was part of: who came when.
fn collective(analysis: &Analysis, place: Place) -> Option<Value> {
    let run = &analysis.run;
    let function = run.function(place);
    let comm = run
        .shape(place)
        .comm
        .or((function.needs == Needs::All && run.name(place) == "MPI_Finalize").then_some(0))?;
    let instance = run.collectives.instance(comm, run.rank(place.lane), place)?;
    let mut members: Vec<Place> = run.collectives.calls(instance).map(|it| it.1).collect();
    let count = members.len();
    members.sort_by_key(|&member| (std::cmp::Reverse(run.begin(member)), member));
    members.truncate(MOST_LISTED);
    let members: Vec<Value> = members.into_iter().map(|member| reference(run, member)).collect();
    Some(json!({"nth": instance.nth + 1, "count": count, "members": members}))
}

/// Why it waited.
pub(super) fn why(analysis: &Analysis, question: &Question) -> Result<Value, Wrong> {
    let run = &analysis.run;
    let place = asked(run, question)?;
    let why = why::why(run, &analysis.waits, place);
    let links: Vec<Value> = why
        .links
        .iter()
        .map(|link| {
            json!({
                "waiting": reference(run, link.waiting), "cause": reference(run, link.cause),
                "waited": link.waited, "inferred": link.is_inferred, "text": sentences::link(run, link),
            })
        })
        .collect();
    let culprit = why.culprit.map(|culprit| {
        let mut value = segment(&culprit.segment);
        let next = match culprit.segment.doing {
            Doing::Call(call) | Doing::Outside(call) => run.place(culprit.segment.lane, call),
        };
        value["whole"] = json!(culprit.whole);
        value["text"] = json!(sentences::culprit(run, &culprit));
        value["next"] = json!(next.map(|next| reference(run, next)));
        value
    });
    let segments: Vec<Value> = why.segments.iter().map(segment).collect();
    Ok(json!({"links": links, "shortened": why.is_shortened, "culprit": culprit, "segments": segments}))
}

/// A piece of a path.
pub(super) fn segment(segment: &Segment) -> Value {
    let is_outside = matches!(segment.doing, Doing::Outside(_));
    json!({"lane": segment.lane, "from": segment.from, "to": segment.to, "outside": is_outside})
}
