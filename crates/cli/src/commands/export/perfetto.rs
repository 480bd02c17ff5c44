//! A time line in the format of Chrome's trace events, which Perfetto reads, too.

use super::run_times::RunTimes;
use crate::launch::call_sites::CallSites;
use evenkeel_trace::times::communicators::Communicators;
use evenkeel_trace::times::file::{Call, Remark};
use evenkeel_trace::times::messages::{Place, messages};
use evenkeel_trace::times::shape::{
    ANY, ANY_SOURCE, ANY_TAG, Envelope, FAILED, NO_TAG, PROC_NULL, ROOT, Role,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

/// Writes the whole time line.
pub(super) fn write(run: &RunTimes, sites: &mut CallSites, out: &mut dyn Write) -> io::Result<()> {
    let communicators = Communicators::new(&run.ranks);
    let mut events = Events { out, has_any: false };
    events.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    for rank in 0..run.ranks.len() {
        Track { run, rank, communicators: &communicators, collectives: HashMap::new() }
            .write(&sites.names(&run.ranks[rank]), &mut events)?;
    }
    for (number, message) in messages(&run.ranks, &communicators).iter().enumerate() {
        arrow(run, number, "s", message.sent, &mut events)?;
        arrow(run, number, "f", message.taken, &mut events)?;
    }
    events.out.write_all(b"\n]}\n")
}

struct Events<'a> {
    out: &'a mut dyn Write,
    has_any: bool,
}

impl Events<'_> {
    fn push(&mut self, event: &Value) -> io::Result<()> {
        self.out.write_all(if self.has_any { b",\n" } else { b"\n" })?;
        self.has_any = true;
        Ok(serde_json::to_writer(&mut *self.out, event)?)
    }
}

/// The format counts microseconds.
fn us(ns: i64) -> f64 {
    ns as f64 / 1e3
}

/// One end of an arrow: a moment within the slice.
fn arrow(run: &RunTimes, number: usize, phase: &str, place: Place, events: &mut Events) -> io::Result<()> {
    let rank = place.rank as usize;
    let call = &run.ranks[rank].calls[place.call as usize];
    let (begin, length) = run.span(rank, call);
    let mut event = json!({
        "ph": phase, "id": number + 1, "name": "message", "cat": "message",
        "pid": rank, "tid": call.thread, "ts": us(begin) + us(length) / 2.0,
    });
    if phase == "f" {
        event["bp"] = json!("e"); // the slice that is there at this moment, not the next one
    }
    events.push(&event)
}

/// The calls of a rank.
struct Track<'a> {
    run: &'a RunTimes,
    rank: usize,
    communicators: &'a Communicators,
    /// Collectives so far, by communicator.
    collectives: HashMap<u32, u64>,
}

impl Track<'_> {
    fn write(&mut self, sites: &[String], events: &mut Events) -> io::Result<()> {
        let times = &self.run.ranks[self.rank];
        let about = |what: &str, tid: u32, args: Value| {
            let mut event = json!({"ph": "M", "name": what, "pid": self.rank, "tid": tid});
            event["args"] = args;
            event
        };
        events.push(&about("process_name", 0, json!({"name": format!("rank {}", self.rank)})))?;
        events.push(&about("process_sort_index", 0, json!({"sort_index": self.rank})))?;
        let label = format!("{}, process {}", times.start.host_name, times.start.process);
        events.push(&about("process_labels", 0, json!({"labels": label})))?;
        let threads = times.calls.iter().map(|call| call.thread).max().unwrap_or(0);
        for thread in 0..=threads {
            let name = if thread == 0 { "MPI".into() } else { format!("thread {thread}") };
            events.push(&about("thread_name", thread, json!({"name": name})))?;
        }
        for (number, call) in times.calls.iter().enumerate() {
            let (begin, length) = self.run.span(self.rank, call);
            let args = self.arguments(number, call, sites);
            events.push(&json!({
                "ph": "X", "cat": "mpi", "name": times.name(call), "pid": self.rank, "tid": call.thread,
                "ts": us(begin), "dur": us(length), "args": args,
            }))?;
        }
        if let Some(open) = &times.open {
            let mut args = Map::new();
            envelope(&mut args, &Envelope { peer: open.peer, tag: open.tag, bytes: None }, "");
            args.insert("ended".into(), json!("never: the rank ended in this call"));
            let (begin, end) = (self.run.ns(self.rank, open.entry), self.run.length());
            events.push(&json!({
                "ph": "X", "cat": "mpi", "name": open.name, "pid": self.rank, "tid": 0,
                "ts": us(begin), "dur": us((end - begin).max(0)), "args": args,
            }))?;
        }
        Ok(())
    }

    fn arguments(&mut self, number: usize, call: &Call, sites: &[String]) -> Map<String, Value> {
        let times = &self.run.ranks[self.rank];
        let shape = times.shape(call);
        let mut args = Map::new();
        if let Some(comm) = shape.comm.map(|comm| self.communicators.number(self.rank, comm)) {
            args.insert("comm".into(), json!(self.communicators.name(comm)));
            if shape.role == Role::Collective && shape.marks & FAILED == 0 {
                let nth = self.collectives.entry(comm).or_default();
                *nth += 1;
                args.insert("collective".into(), json!(format!("{nth} on communicator {comm}")));
            }
        }
        envelope(&mut args, &shape.first, "");
        if let Some(second) = shape.second.filter(|_| shape.role != Role::Collective) {
            envelope(&mut args, &second, "received ");
        }
        let wildcards = [(ANY_SOURCE, "MPI_ANY_SOURCE"), (ANY_TAG, "MPI_ANY_TAG")];
        let named: Vec<_> =
            wildcards.iter().filter(|(mark, _)| shape.marks & mark != 0).map(|w| w.1).collect();
        if !named.is_empty() {
            args.insert("asked for".into(), json!(named.join(", ")));
        }
        let took: Vec<Value> = times
            .remarks_of(number)
            .iter()
            .filter_map(|remark| match remark {
                Remark::Took(_, message) => {
                    let mut one = Map::new();
                    envelope(&mut one, message, "");
                    Some(Value::Object(one))
                }
                Remark::StartedSend(..) | Remark::Posted(..) => None,
            })
            .collect();
        if !took.is_empty() {
            args.insert("took".into(), Value::Array(took));
        }
        if shape.marks & FAILED != 0 {
            args.insert("failed".into(), json!(true));
        }
        args.insert("site".into(), json!(sites[shape.site as usize]));
        args
    }
}

fn envelope(args: &mut Map<String, Value>, envelope: &Envelope, of: &str) {
    let special = |number: i32, any: &str| match number {
        ANY => Some(json!(any)),
        PROC_NULL => Some(json!("MPI_PROC_NULL")),
        ROOT => Some(json!("MPI_ROOT")),
        number if number >= 0 => Some(json!(number)),
        _ => None,
    };
    if let Some(peer) = special(envelope.peer, "MPI_ANY_SOURCE") {
        args.insert(format!("{of}peer"), peer);
    }
    if envelope.tag != NO_TAG {
        if let Some(tag) = special(envelope.tag, "MPI_ANY_TAG") {
            args.insert(format!("{of}tag"), tag);
        }
    }
    if let Some(bytes) = envelope.bytes {
        args.insert(format!("{of}bytes"), json!(bytes));
    }
}
