//! A node process that is silent for too long, and reads later what its launcher has told it meanwhile: the
//! processes were killed, and that is no success.

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

fn main() {
    // Cargo asks a test for its name so.
    if std::env::args().any(|argument| argument == "--list") {
        return println!("a_launcher_whose_node_is_silent_reports_a_failure: test");
    }
    let mut hosted = Hosted::start().unwrap();
    hosted.channel.send(&Order::Run(Box::new(job())));
    let mut reports = Vec::new();
    while !hosted.channel.is_closed() {
        hosted.channel.flush();
        let mut fds = [PollFd::from_borrowed_fd(hosted.channel.descriptor(), PollFlags::IN)];
        // An interrupted call is repeated.
        let _ = poll(&mut fds, None);
        reports.extend(hosted.channel.receive::<Report>());
    }
    let [Report::Failed { code, text, is_patient, .. }, Report::Ended] = &reports[..] else {
        panic!("a failure and the end should be reported, and not {reports:?}");
    };
    assert!(*code == 1 && !is_patient && text.contains("on here has been silent"), "{code}: {text}");
    println!("a_launcher_whose_node_is_silent_reports_a_failure: ok");
}
