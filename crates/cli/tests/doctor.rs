//! `evenkeel doctor` from the outside.

mod fixture;

use fixture::{Fixture, Kind, err, out};

#[test]
fn the_doctor_reports_machine_and_program() {
    let f = Fixture::new();
    f.mpi("mpi", Kind::Mpich5);
    f.shims(env!("CARGO_PKG_VERSION"));
    let said = f.evenkeel(&["doctor", "mpi/app"]);
    let text = out(&said);
    for words in [
        "Shims in",
        "mpich5    built against Some MPI 1.2",
        "usable under affinity",
        "memfd_create",
        "process_vm_readv",
        "Syscall User Dispatch",
        "Program mpi/app",
        "C: covered",
        "shim mpich5 fits",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}{}", err(&said));
    }
    assert!(text.contains("evenkeel-agent is missing; install it beside the shims"), "{text}");
    std::fs::write(f.path("shims/evenkeel-agent"), "").unwrap();
    assert!(out(&f.evenkeel(&["doctor"])).contains("evenkeel-agent is installed"));
    assert!(
        text.trim_end().ends_with("evenkeel can run mpi/app.") == (said.status.code() == Some(0)),
        "{text}"
    );
}

#[test]
fn the_doctor_reports_missing_shims_and_exits_with_1() {
    let f = Fixture::new();
    f.mpi("mpi", Kind::Mpich5);
    let said = f.evenkeel(&["doctor", "mpi/app"]);
    assert_eq!(said.status.code(), Some(1));
    assert!(
        out(&said).contains("evenkeel cannot run mpi/app: ") && out(&said).contains("no shims"),
        "{}",
        out(&said)
    );
}

/// Where the kernel has it, as on x86-64 since Linux 5.11; elsewhere the doctor says why not.
#[test]
fn the_dispatch_trial_catches_its_own_system_call() {
    let f = Fixture::new();
    let said = f.evenkeel(&["doctor-peer", "catch"]);
    assert_eq!(said.status.code(), Some(0), "{}", err(&said));
    let text = out(&said);
    let excuse = ["since 5.11", "x86-64 only", "not permitted"].iter().any(|e| text.contains(e));
    assert!(text == "works\n" || excuse, "{text}");
}
