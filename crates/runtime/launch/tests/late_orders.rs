//! What a node process makes of orders that it reads late: those that came while it was silent for too long,
//! which is no success, and an order to end that came together with the one to run.

use evenkeel_launch::{HostLabel, Hosted, HostedJob, Order, Report};
use rustix::event::{PollFd, PollFlags, poll};

fn job() -> HostedJob {
    HostedJob {
        name: format!("silent{}", std::process::id()),
        host: "here".into(),
        host_number: 0,
        program: "/bin/sleep".into(),
        // It would end by itself, with 0, long after this test.
        arguments: vec!["1000".into()],
        environment: Vec::new(),
        directory: "/".into(),
        ranks: 1,
        first_rank: 0,
        all_ranks: 1,
        mapping: "(vector,(0,1,1))".into(),
        is_mpi: false,
        label: HostLabel::None,
        reads_input: false,
        grace_ms: 100,
        keep_going: false,
        patience_ms: 100,
    }
}

/// What the launcher reports until it has gone.
fn reports(hosted: &mut Hosted) -> Vec<Report> {
    let mut reports = Vec::new();
    while !hosted.channel.is_closed() {
        hosted.channel.flush();
        let mut fds = [PollFd::from_borrowed_fd(hosted.channel.descriptor(), PollFlags::IN)];
        // An interrupted call is repeated.
        let _ = poll(&mut fds, None);
        reports.extend(hosted.channel.receive::<Report>());
    }
    reports
}

fn a_launcher_whose_node_is_silent_reports_a_failure() {
    let mut hosted = Hosted::start().unwrap();
    hosted.channel.send(&Order::Run(Box::new(job())));
    let reports = reports(&mut hosted);
    let [Report::Failed { code, text, is_patient, .. }, Report::Ended] = &reports[..] else {
        panic!("a failure and the end should be reported, and not {reports:?}");
    };
    assert!(*code == 1 && !is_patient && text.contains("on here has been silent"), "{code}: {text}");
}

/// Both orders have mostly come before the launcher reads the first one. If it lost the second one, it would
/// hear of the silence only after a minute.
fn an_order_to_end_that_comes_with_the_one_to_run_is_obeyed() {
    for _ in 0..20 {
        let mut hosted = Hosted::start().unwrap();
        let patient = HostedJob { patience_ms: 60_000, ..job() };
        hosted.channel.send(&Order::Run(Box::new(patient)));
        hosted.channel.send(&Order::End { is_patient: false });
        let reports = reports(&mut hosted);
        assert!(
            !format!("{reports:?}").contains("silent") && matches!(reports.last(), Some(Report::Ended)),
            "{reports:?}"
        );
    }
}

/// The launcher is made from a process with one thread, which tests of Cargo's harness do not have.
fn main() {
    let tests: [(&str, fn()); 2] = [
        (
            "a_launcher_whose_node_is_silent_reports_a_failure",
            a_launcher_whose_node_is_silent_reports_a_failure,
        ),
        (
            "an_order_to_end_that_comes_with_the_one_to_run_is_obeyed",
            an_order_to_end_that_comes_with_the_one_to_run_is_obeyed,
        ),
    ];
    // Cargo asks a test for its name so.
    let lists = std::env::args().any(|argument| argument == "--list");
    for (name, test) in tests {
        if lists {
            println!("{name}: test");
        } else {
            test();
            println!("{name}: ok");
        }
    }
}
