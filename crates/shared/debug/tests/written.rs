//! Definitions, one by one, on traces that are written by hand; and what is said of them.

#[path = "written/mod.rs"]
mod hand;

use evenkeel_debug::analysis::Analysis;
use evenkeel_debug::answers::{Answers, Finding, Question, Wrong};
use evenkeel_debug::build;
use evenkeel_debug::difference::{differences, words};
use evenkeel_debug::path::critical_path;
use evenkeel_debug::run::{CodePlace, Place, Run};
use evenkeel_debug::shares::LaneShares;
use evenkeel_debug::text;
use evenkeel_debug::waits::{Reason, Waits};
use evenkeel_debug::why::why;
use evenkeel_random::Random;
use evenkeel_trace::times::file::Times;
use evenkeel_trace::times::shape::Role::{Collective, Other, Post, Receive, Send};
use hand::{kill, push, rank};
use serde_json::{Value, json};

fn at(lane: u32, call: u32) -> Place {
    Place { lane, call }
}

fn of(ranks: &[Times]) -> (Run, Waits) {
    let run = build::run(ranks);
    let waits = Waits::of(&run);
    (run, waits)
}

/// How long a call waited, for which call, and why.
fn wait((run, waits): &(Run, Waits), place: Place) -> Option<(i64, Place, Reason, bool)> {
    waits.get(place).map(|wait| (waits.length(run, place), wait.cause, wait.reason, wait.is_inferred))
}

#[test]
fn a_receive_waits_until_the_send_begins_and_not_longer() {
    let all = of(&[
        rank(0, 2, &[("MPI_Recv", Receive, 1, 7, 100, 250)]),
        rank(1, 2, &[("MPI_Send", Send, 0, 7, 180, 260)]),
    ]);
    assert_eq!(wait(&all, at(0, 0)), Some((80, at(1, 0), Reason::LateSender, false)));
    assert_eq!(wait(&all, at(1, 0)), None, "the receive was there before");
}

#[test]
fn a_send_waits_for_the_receive_only_if_it_is_still_under_way_then() {
    let program = |end_of_send: u64, name| {
        of(&[
            rank(0, 2, &[(name, Send, 1, 7, 100, end_of_send)]),
            rank(1, 2, &[("MPI_Recv", Receive, 0, 7, 400, 500)]),
        ])
    };
    assert_eq!(wait(&program(490, "MPI_Send"), at(0, 0)), Some((300, at(1, 0), Reason::LateReceiver, false)));
    assert_eq!(wait(&program(120, "MPI_Send"), at(0, 0)), None, "it was eager");
    assert_eq!(wait(&program(490, "MPI_Bsend"), at(0, 0)), None, "it does not wait");
}

#[test]
fn tests_do_not_wait_and_waitany_waits_for_the_first() {
    let program = |name| {
        let calls: [hand::Written; 2] =
            [("MPI_Irecv", Post, 1, 7, 10, 11), ("MPI_Irecv", Post, 2, 7, 20, 21)];
        let mut zero = rank(0, 3, &calls);
        push(&mut zero, 0, (name, Other, -2, 0, 100, 400), &[(0, 1, 7), (1, 2, 7)]);
        of(&[
            zero,
            rank(1, 3, &[("MPI_Send", Send, 0, 7, 300, 310)]),
            rank(2, 3, &[("MPI_Send", Send, 0, 7, 200, 210)]),
        ])
    };
    assert_eq!(wait(&program("MPI_Waitall"), at(0, 2)).map(|it| (it.0, it.1)), Some((200, at(1, 0))));
    assert_eq!(wait(&program("MPI_Waitsome"), at(0, 2)).map(|it| (it.0, it.1)), Some((100, at(2, 0))));
    assert_eq!(wait(&program("MPI_Testall"), at(0, 2)), None);
}

#[test]
fn a_probe_waits_for_the_message_that_the_next_receive_takes() {
    let all = of(&[
        rank(0, 2, &[("MPI_Probe", Other, 1, 7, 100, 300), ("MPI_Recv", Receive, 1, 7, 310, 320)]),
        rank(1, 2, &[("MPI_Send", Send, 0, 7, 280, 290)]),
    ]);
    assert_eq!(wait(&all, at(0, 0)), Some((180, at(1, 0), Reason::LateSender, true)));
}

fn collective(name: &'static str, root: i32, begins: [u64; 3], ends: [u64; 3]) -> (Run, Waits) {
    let calls = |place: usize| [(name, Collective, root, 0, begins[place], ends[place])];
    let ranks: Vec<Times> = (0..3).map(|number| rank(number, 3, &calls(number as usize))).collect();
    of(&ranks)
}

#[test]
fn at_a_collective_ranks_wait_for_those_they_need() {
    let waits = |name, root| {
        let all = collective(name, root, [100, 300, 200], [400, 400, 400]);
        [0, 1, 2].map(|lane| wait(&all, at(lane, 0)).map_or(0, |it| it.0))
    };
    assert_eq!(waits("MPI_Barrier", -2), [200, 0, 100]);
    assert_eq!(waits("MPI_Bcast", 1), [200, 0, 100]);
    assert_eq!(waits("MPI_Bcast", 0), [0, 0, 0]);
    assert_eq!(waits("MPI_Reduce", 2), [0, 0, 100]);
    assert_eq!(waits("MPI_Reduce", 0), [200, 0, 0]);
    assert_eq!(waits("MPI_Scan", -2), [0, 0, 100]);
    assert_eq!(waits("MPI_Neighbor_alltoall", -2), [0, 0, 0]);
}

#[test]
fn a_barrier_that_was_left_before_the_last_came_did_not_wait_for_the_last() {
    let all = collective("MPI_Barrier", -2, [100, 300, 150], [170, 310, 160]);
    assert_eq!(wait(&all, at(0, 0)).map(|it| (it.0, it.1)), Some((50, at(2, 0))));
    assert_eq!(wait(&all, at(2, 0)), None);
}

#[test]
fn a_wait_for_a_nonblocking_collective_is_inferred() {
    let calls = |begin: u64| {
        [("MPI_Ibarrier", Collective, -2, 0, begin, begin + 1), ("MPI_Wait", Other, -2, 0, begin + 10, 500)]
    };
    let all = of(&[rank(0, 2, &calls(100)), rank(1, 2, &calls(400))]);
    assert_eq!(wait(&all, at(0, 1)), Some((290, at(1, 0), Reason::Collective, true)));
    assert_eq!(wait(&all, at(0, 0)), None);
}

#[test]
fn supersteps_end_where_all_ranks_synchronize_and_nowhere_else() {
    let calls = |late: u64| {
        [
            ("MPI_Bcast", Collective, 0, 0, 100, 110),
            ("MPI_Ibarrier", Collective, -2, 0, 120, 121),
            ("MPI_Barrier", Collective, -2, 0, 200 + late, 310),
            ("MPI_Allreduce", Collective, -2, 0, 400, 410),
            ("MPI_Finalize", Other, -2, 0, 500, 510),
        ]
    };
    let analysis = Analysis::of(build::run(&[rank(0, 2, &calls(0)), rank(1, 2, &calls(100))]));
    let cuts: Vec<(i64, i64)> = analysis.supersteps.iter().map(|step| (step.from, step.to)).collect();
    assert_eq!(cuts, [(0, 300), (300, 400), (400, 500)]);
    let first = analysis.supersteps[0];
    assert_eq!((first.last, first.busiest, first.longest_work, first.waited), (at(1, 2), 1, 289, 100));
    assert_eq!(first.mean_work, 239);
}

/// Clocks of two hosts may say that each waited for the other.
#[test]
fn clocks_that_contradict_each_other_end_no_walk() {
    let all = of(&[
        rank(0, 2, &[("MPI_Recv", Receive, 1, 7, 100, 200), ("MPI_Send", Send, 1, 7, 300, 310)]),
        rank(1, 2, &[("MPI_Recv", Receive, 0, 7, 110, 200), ("MPI_Send", Send, 0, 7, 300, 310)]),
    ]);
    assert_eq!(wait(&all, at(0, 0)).map(|it| it.0), Some(100), "not longer than the call");
    let path = critical_path(&all.0, &all.1);
    assert_eq!(path.iter().map(|segment| segment.to - segment.from).sum::<i64>(), 310);
    assert!(!why(&all.0, &all.1, at(0, 0)).links.is_empty());
}

#[test]
fn a_rank_that_was_killed_is_in_its_last_call_until_the_end() {
    let mut one = rank(1, 2, &[("MPI_Init", Other, -2, 0, 10, 20)]);
    kill(&mut one, "MPI_Recv", 30);
    let (run, _) = of(&[rank(0, 2, &[("MPI_Init", Other, -2, 0, 10, 900)]), one]);
    assert!(run.lanes[1].is_open);
    assert_eq!((run.name(at(1, 1)), run.begin(at(1, 1)), run.end(at(1, 1))), ("MPI_Recv", 30, 900));
    assert_eq!(run.processes[1].remark, "it ended in MPI_Recv");
}

#[test]
fn threads_of_a_rank_are_lanes_of_their_own() {
    let mut zero = rank(0, 2, &[("MPI_Init_thread", Other, -2, 0, 10, 20)]);
    push(&mut zero, 1, ("MPI_Recv", Receive, 1, 7, 30, 80), &[]);
    push(&mut zero, 0, ("MPI_Recv", Receive, 1, 8, 25, 90), &[]);
    let sends = [("MPI_Send", Send, 0, 8, 40, 41), ("MPI_Send", Send, 0, 7, 70, 71)];
    let all = of(&[zero, rank(1, 2, &sends)]);
    let names: Vec<String> = (0..3).map(|lane| all.0.lane_name(lane)).collect();
    assert_eq!(names, ["rank 0", "rank 0, thread 1", "rank 1"]);
    assert_eq!(wait(&all, at(0, 1)).map(|it| (it.0, it.1)), Some((15, at(2, 0))));
    assert_eq!(wait(&all, at(1, 0)).map(|it| (it.0, it.1)), Some((40, at(2, 1))));
}

/// A lane with many calls, of which some wait.
fn many(random: &mut Random) -> Analysis {
    let (mut calls, mut sends) = (Vec::new(), Vec::new());
    let (mut now, mut other) = (0, 0);
    for _ in 0..300 {
        now += random.less_than(50);
        let end = now + random.less_than(50);
        if random.below(3) == 0 {
            let sent = (now + random.less_than(60)).max(other).min(end.max(other));
            sends.push(("MPI_Send", Send, 0, 7, sent, sent));
            other = sent;
            let end = end.max(sent);
            calls.push(("MPI_Recv", Receive, 1, 7, now, end));
            now = end;
        } else {
            calls.push((["MPI_Iprobe", "MPI_Win_lock"][random.below(2)], Other, -2, 0, now, end));
            now = end;
        }
    }
    Analysis::of(build::run(&[rank(0, 2, &calls), rank(1, 2, &sends)]))
}

#[test]
fn shares_are_the_sums_of_the_calls() {
    let mut random = Random::new(3);
    for _ in 0..10 {
        let analysis = many(&mut random);
        let (run, waits) = (&analysis.run, &analysis.waits);
        let shares: &LaneShares = &analysis.shares[0];
        let mut moments: Vec<i64> =
            (0..200).map(|_| random.less_than(run.length() as u64 + 50) as i64).collect();
        moments.sort_unstable();
        let (mut known, mut sums) = (0, Vec::new());
        for moment in moments {
            known = shares.until(run, waits, 0, (moment, known), &mut sums);
            let mut expected = vec![0; shares.width()];
            for call in 0..run.lanes[0].calls() as u32 {
                let place = at(0, call);
                let which = shares.functions.iter().position(|&it| it == run.shape(place).function).unwrap();
                let within = |until: i64| (until.min(moment) - run.begin(place)).max(0);
                expected[which] += within(run.end(place));
                expected[shares.width() - 1] += within(waits.until(run, place));
            }
            assert_eq!(sums, expected, "up to {moment}");
        }
    }
}

fn ask(answers: &Answers, question: &str) -> Result<Value, Wrong> {
    answers.answer(&Question::of(question))
}

fn two_ranks(tag: i32, more: bool) -> Run {
    let mut receives = vec![("MPI_Recv", Receive, 1, 7, 100, 250), ("MPI_Iprobe", Other, -2, 0, 260, 261)];
    receives.push(("MPI_Recv", Receive, 1, tag, 300, 310));
    let mut sends = vec![("MPI_Send", Send, 0, 7, 180, 260), ("MPI_Send", Send, 0, tag, 290, 300)];
    if more {
        receives.insert(1, ("MPI_Iprobe", Other, -2, 0, 255, 256));
        sends.push(("MPI_Send", Send, 0, 9, 400, 410));
    }
    build::run(&[rank(0, 2, &receives), rank(1, 2, &sends)])
}

#[test]
fn two_runs_differ_first_where_a_call_has_another_argument() {
    assert!(differences(&two_ranks(5, false), &two_ranks(5, false)).is_empty());
    let (one, other) = (two_ranks(5, false), two_ranks(6, true));
    let found = differences(&one, &other);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].rank, found[0].same), (0, 1), "probes that found nothing do not count");
    let (a, b) = (found[0].one.unwrap(), found[0].other.unwrap());
    assert_eq!(words(&one, a, &other, b), "tag 6, not 5");
    let longer = differences(&one, &two_ranks(5, true));
    assert_eq!((longer.len(), longer[0].one, longer[0].same), (1, None, 2));
}

#[test]
fn the_text_says_which_rank_waited_for_which() {
    let said = text::answers(&Analysis::of(two_ranks(5, false)), 200);
    for line in [
        "1.  at 100 ns: rank 0 waited 80 ns in MPI_Recv for rank 1, which sent late, by MPI_Send\n",
        "\n    rank 1 was outside MPI for 180 ns, before MPI_Send\n",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert!(said.contains("Supersteps: none"), "{said}");
    assert!(text::comparison(&two_ranks(5, false), &two_ranks(6, false), 200).contains("(tag 6, not 5)"));
}

#[test]
fn nothing_breaks_without_calls() {
    let empty = Analysis::of(build::run(&[rank(0, 2, &[]), rank(1, 2, &[])]));
    assert!(text::answers(&empty, 80).contains("no call waited"));
    let answers = Answers::new("t".into(), empty, None, None);
    for question in [
        "run",
        "view?from=0&to=0&width=100",
        "waits?from=0&to=9",
        "path?from=0&to=9",
        "supersteps?from=0&to=9",
        "graph?from=0&to=9",
        "next?what=call&name=&at=0",
        "next?what=wait&rank=0",
        "next?what=superstep&at=0",
        "difference",
    ] {
        ask(&answers, question).unwrap_or_else(|wrong| panic!("{question}: {wrong}"));
    }
    let none = Analysis::of(build::run(&[]));
    assert!(text::answers(&none, 80).starts_with("0 ranks"));
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let answers = Answers::new("t".into(), Analysis::of(two_ranks(5, true)), None, None);
    assert_eq!(ask(&answers, "call?lane=0&call=99"), Err(Wrong::NoSuchCall));
    assert_eq!(ask(&answers, "call?lane=7&call=0"), Err(Wrong::NoSuchCall));
    assert_eq!(ask(&answers, "why?lane=-1&call=0"), Err(Wrong::NoNumber("lane")));
    assert_eq!(ask(&answers, "source?site=9"), Err(Wrong::NoSuchCall));
    assert_eq!(ask(&answers, "nothing"), Err(Wrong::NoSuchQuestion));
    let most = i64::MAX;
    for question in [
        format!("view?from=-{most}&to={most}&width={most}"),
        format!("waits?from={most}&to=-5"),
        "view?from=5&to=5&width=0&first=9&last=3".to_string(),
        format!("supersteps?from=-{most}&to={most}"),
        format!("next?what=wait&rank={}", u32::MAX),
        format!("next?what=call&name=%00&at={most}&back=1"),
    ] {
        ask(&answers, &question).unwrap_or_else(|wrong| panic!("{question}: {wrong}"));
    }
}

/// The question names a site, never a file; and what is no regular file is not read.
#[test]
fn source_is_read_only_where_the_program_has_it() {
    let mut run = two_ranks(5, false);
    let place = |file: &str| CodePlace { name: "f x.c:2".into(), file: file.into(), line: 2 };
    let this = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/written.rs");
    for (file, has_lines) in [(this, true), ("/dev/zero", false), ("/nowhere/x.c", false), ("", false)] {
        run.places = vec![place(file)];
        let answers = Answers::new("t".into(), Analysis::of(run.clone()), None, None);
        let found = ask(&answers, "source?site=0&file=/etc/passwd").unwrap();
        assert_eq!(found.get("lines").is_some(), has_lines, "{found}");
        assert_eq!(found["file"], file);
    }
}

#[test]
fn details_have_arguments_messages_and_findings() {
    let (rule, severity, text) = ("r".into(), "note".into(), "t".into());
    let finding = Finding { rule, severity, rank: None, call: None, site: None, text };
    let answers = Answers::new("t".into(), Analysis::of(two_ranks(5, false)), None, Some(vec![finding]));
    assert_eq!(ask(&answers, "run").unwrap()["findings"][0]["rule"], "r");
    let call = ask(&answers, "call?lane=0&call=0").unwrap();
    let facts = call["facts"].as_array().unwrap();
    for fact in [
        json!(["communicator", "MPI_COMM_WORLD (2 ranks)"]),
        json!(["peer", "1"]),
        json!(["tag", "7"]),
        json!(["bytes", "8"]),
    ] {
        assert!(facts.contains(&fact), "{facts:?}");
    }
    assert_eq!(call["taken"][0]["other"]["name"], "MPI_Send");
    assert_eq!(call["waited"], 80);
    let view = ask(&answers, "view?from=0&to=420&width=1000").unwrap();
    assert_eq!(view["lanes"][0]["calls"][0], json!([0, 100, 250, 0, 180]));
    assert_eq!(view["messages"]["lines"].as_array().unwrap().len(), 2);
    let narrow = ask(&answers, "view?from=0&to=420&width=4").unwrap();
    assert!(narrow["lanes"][0]["shares"].is_string());
    let graph = ask(&answers, "graph?from=0&to=1000").unwrap();
    assert_eq!(graph["edges"], json!([[1, 0, 2, 16, 80]]));
}
