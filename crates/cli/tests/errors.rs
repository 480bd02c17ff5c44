//! Every sentence with which evenkeel refuses, and its exit code.

mod fixture;

use fixture::{CALLS_INIT, Fixture, INIT, Kind, NO_MPI, assert_fails, err, out};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const STATIC: &[&str] = &["-static", "-nostdlib", "-nostartfiles", "-Wl,-e,main"];

fn machine(kind: Kind) -> Fixture {
    let f = Fixture::new();
    f.mpi("mpi", kind);
    f.shims(VERSION);
    f
}

fn run(f: &Fixture, program: &str) -> std::process::Output {
    f.evenkeel(&["run", "-n", "2", "--", program])
}

#[test]
fn missing_programs_exit_with_127() {
    let f = Fixture::new();
    let bin = f.path("bin").display().to_string();
    assert_fails(&run(&f, "no-such-program"), 127, &["`no-such-program`", &bin, "`./no-such-program`"]);
    assert_fails(&run(&f, "./gone"), 127, &["./gone", "no such file"]);
}

#[test]
fn files_that_cannot_be_executed_exit_with_126() {
    let f = Fixture::new();
    assert_fails(&run(&f, "./lib"), 126, &["directory"]);
    f.write("data", "just text, and long enough to be read");
    assert_fails(&run(&f, "./data"), 126, &["chmod +x ./data"]);
    f.script("text", "just text, and long enough to be read");
    assert_fails(&run(&f, "./text"), 126, &["neither a program nor a script"]);
    f.script("orphan", "#!/no/such/interpreter -x\n");
    assert_fails(&run(&f, "./orphan"), 127, &["`/no/such/interpreter`", "/no/such"]);
    f.script("lost", "#!/usr/bin/env no-such-interpreter\n");
    assert_fails(&run(&f, "./lost"), 127, &["`no-such-interpreter`"]);
    let itself = f.path("snake");
    f.script("snake", &format!("#!{}\n", itself.display()));
    assert_fails(&run(&f, "./snake"), 126, &["without an end"]);
}

#[test]
fn programs_for_other_processors_are_refused() {
    let f = Fixture::new();
    let mut bytes = std::fs::read(f.program("native", NO_MPI, &[])).unwrap();
    bytes[18..20].copy_from_slice(&243u16.to_le_bytes()); // RISC-V
    f.script("foreign", "");
    std::fs::write(f.path("foreign"), bytes).unwrap();
    assert_fails(&run(&f, "./foreign"), 126, &["another processor (RISC-V)"]);
}

#[test]
fn programs_without_a_shared_mpi_are_refused() {
    let f = Fixture::new();
    f.shims(VERSION);
    f.program("plain", NO_MPI, &[]);
    assert_fails(&run(&f, "./plain"), 125, &["not linked with an MPI library", "libc.so", "--mpi openmpi"]);
    f.program("still", NO_MPI, STATIC);
    assert_fails(&run(&f, "./still"), 125, &["linked statically, so", "shared MPI library"]);
    f.program("inside", "int MPI_Init(void) { return 0; } int main(void) { return MPI_Init(); }", STATIC);
    assert_fails(&run(&f, "./inside"), 125, &["has its MPI inside"]);
    f.script("wrap.sh", "#!/bin/sh\nexit 0\n");
    assert_fails(&run(&f, "./wrap.sh"), 125, &["starts an MPI program itself"]);
}

#[test]
fn missing_and_unknown_mpi_libraries_are_refused() {
    let f = Fixture::new();
    f.shims(VERSION);
    let library = f.library("lib/libmpi.so.77", "libmpi.so.77", INIT, &[]);
    f.program("app", CALLS_INIT, &[library.to_str().unwrap(), "-Wl,-rpath,/some/where"]);
    std::fs::remove_file(library).unwrap();
    assert_fails(&run(&f, "./app"), 125, &["libmpi.so.77", "/some/where", "LD_LIBRARY_PATH"]);
    f.mpi("old", Kind::OpenMpi1);
    assert_fails(&run(&f, "old/app"), 125, &["libmpi.so.12", "no shim"]);
}

#[test]
fn python_without_mpi4py_is_refused() {
    let f = Fixture::new();
    let answer = "echo \"ModuleNotFoundError: No module named 'mpi4py'\" >&2";
    f.script("bin/python3", &format!("#!/bin/sh\necho 'Traceback' >&2\n{answer}\nexit 1\n"));
    assert_fails(&run(&f, "python3"), 125, &["No module named 'mpi4py'", "Install mpi4py"]);
}

#[test]
fn an_mpi_other_than_the_programs_is_refused() {
    let f = machine(Kind::Mpich5);
    let asked = f.evenkeel(&["run", "-n", "2", "--mpi", "openmpi", "--", "mpi/app"]);
    assert_fails(&asked, 125, &["--mpi openmpi", "mpi/app", "MPICH 5"]);
    assert_fails(&f.evenkeel(&["env"]), 125, &["--mpi auto needs the program"]);
}

#[test]
fn missing_shims_and_those_of_another_version_are_refused() {
    let f = Fixture::new();
    f.mpi("mpi", Kind::OpenMpi4);
    let shims = f.path("shims").display().to_string();
    assert_fails(&run(&f, "mpi/app"), 125, &[&shims, "make build"]);
    f.shim("mpich4", VERSION);
    assert_fails(&run(&f, "mpi/app"), 125, &["no shim for Open MPI 4", "there: mpich4"]);
    f.shim("openmpi4", "99.0.0");
    assert_fails(&run(&f, "mpi/app"), 125, &["99.0.0", VERSION, "libevenkeel-openmpi4.so"]);
}

#[test]
fn missing_launchers_are_refused() {
    let f = machine(Kind::OpenMpi4);
    std::fs::remove_file(f.path("mpi/bin/mpirun")).unwrap();
    let only_here = [("PATH", f.path("bin").to_str().unwrap().to_string())];
    let variables: Vec<(&str, &str)> = only_here.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let done = f.evenkeel_with(&["run", "-n", "2", "--", "mpi/app"], &variables);
    assert_fails(&done, 125, &["the launcher of", "mpirun", "--launcher"]);
    let done = f.evenkeel(&["run", "-n", "2", "--launcher", "no-such-launcher", "--", "mpi/app"]);
    assert_fails(&done, 125, &["`no-such-launcher`", "--launcher"]);
}

#[test]
fn a_mistyped_option_is_not_taken_for_the_program() {
    let f = machine(Kind::OpenMpi4);
    let done = f.evenkeel(&["run", "-n", "2", "--qiet", "--", "mpi/app"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(err(&done).contains("unexpected argument '--qiet'") && err(&done).contains("'--quiet'"));
    let done = f.evenkeel(&["run", "-n", "2", "--dry-run", "mpi/app", "-n", "3", "--dry-run"]);
    assert!(out(&done).trim_end().ends_with("mpi/app -n 3 --dry-run"), "{}", out(&done));
}

#[test]
fn impossible_arguments_are_refused() {
    let f = machine(Kind::OpenMpi4);
    assert_fails(&f.evenkeel(&["run", "-n", "4000000000", "--", "mpi/app"]), 125, &["4000000000 ranks", "/"]);
    let done = f.evenkeel(&["run", "-n", "2", "--launcher-args", "--hostfile 'my", "--", "mpi/app"]);
    assert_fails(&done, 125, &["a quote is not closed"]);
    let done = f.evenkeel(&["run", "-n", "2", "--report", "no/such/run.json", "--", "mpi/app"]);
    assert_fails(&done, 125, &["no/such/run.json", "no directory"]);
    for wrong in [
        &["run", "-n", "0", "--", "mpi/app"][..],
        &["run", "--", "mpi/app"],
        &["run", "-n", "2", "--wait", "sometimes", "--", "mpi/app"],
        &["run", "-n", "2", "--ports", "10-5", "--", "mpi/app"],
        &["run", "-n", "2", "--trace-checks", "0", "--", "mpi/app"],
        &["run", "-n", "2", "--network", "10.1.0.0/99", "--", "mpi/app"],
        &["run", "-n", "2"],
    ] {
        let done = f.evenkeel(wrong);
        assert_eq!(done.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let f = machine(Kind::Mpich5);
    for arguments in
        [&["schedule", "list"][..], &["env", "mpi/app"], &["--help"], &["run", "--help"], &["-V"]]
    {
        let full = std::fs::File::create("/dev/full").unwrap();
        let done = f.command(arguments).stdout(full).output().unwrap();
        assert_fails(&done, 125, &["cannot write standard output: No space left on device"]);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = f.command(arguments).stdout(writer).output().unwrap();
        assert_eq!((done.status.code(), err(&done)), (Some(0), String::new()), "{arguments:?}");
    }
}

#[test]
fn no_command_writes_over_what_it_reads_or_one_file_twice() {
    let f = machine(Kind::Mpich5);
    let net = "a-1 b-1\na-2 c-1\na-3 h-1\nb-2 g-1\n";
    f.write("n.topo", net);
    f.write("t/rank-0.times", "");
    std::os::unix::fs::symlink("n.topo", f.path("link")).unwrap();
    f.write("run.json", &serde_json::to_string(&sample()).unwrap());
    let reads = "this command reads that file. Name another file.";
    let twice = "name this file. Give each of them a file of its own.";
    for (line, why) in [
        ("report run.json --html ./run.json", reads),
        ("route compute n.topo --lfts link", reads),
        ("route compute n.topo --lfts x --json ./x", twice),
        ("route plan n.topo steps/1.lfts n.topo --out steps --json steps/2.lfts", twice),
        ("noise --json same --html other --trace same", twice),
        ("simulate dissemination --json a --plot a", twice),
        ("model measure --json a --svg a", twice),
        ("tune --json a --table a", twice),
        ("export t --output t/rank-0.times", reads),
        ("run -n 2 --report mpi/app mpi/app", reads),
        ("run -n 2 --trace u --report u/run.json mpi/app", twice),
    ] {
        std::fs::create_dir_all(f.path("u")).unwrap();
        std::fs::create_dir_all(f.path("steps")).unwrap();
        assert_fails(&f.evenkeel(&line.split(' ').collect::<Vec<_>>()), 125, &[why]);
    }
    assert_eq!(std::fs::read_to_string(f.path("n.topo")).unwrap(), net);
    assert!(!f.path("u/run.json").exists() && !f.path("same").exists());
}

#[test]
fn times_are_not_written_into_the_trace_that_is_repeated() {
    let f = machine(Kind::Mpich5);
    f.write("tr/rank-0.trace", "what happened");
    f.write(
        "tr/run.json",
        r#"{"version": "1", "directory": "/", "options": ["-n", "1"], "program": ["app"]}"#,
    );
    std::os::unix::fs::symlink("tr", f.path("link")).unwrap();
    let whole = f.path("tr").display().to_string();
    for written in ["tr", "tr/.", "link", &whole] {
        let words = ["cannot write times into", "it is the trace that is repeated. Name another folder."];
        assert_fails(&f.evenkeel(&["replay", "tr", "--times", written]), 125, &words);
        let run =
            ["run", "-n", "1", "--replay", "tr", "--trace", written, "--trace-level", "times", "mpi/app"];
        assert_fails(&f.evenkeel(&run), 125, &words);
    }
    let variables =
        [("EVENKEEL_REPLAY", "tr"), ("EVENKEEL_TRACE", "link"), ("EVENKEEL_TRACE_LEVEL", "times")];
    assert_fails(&f.evenkeel_with(&["run", "-n", "1", "mpi/app"], &variables), 125, &["repeated"]);
    assert_eq!(std::fs::read_to_string(f.path("tr/rank-0.trace")).unwrap(), "what happened");
}

#[test]
fn values_that_a_shell_would_split_are_refused() {
    let f = machine(Kind::Mpich5);
    let shims = f.path("two words");
    std::fs::rename(f.path("shims"), &shims).unwrap();
    let variables = [("EVENKEEL_LIB", shims.to_str().unwrap())];
    assert_fails(&f.evenkeel_with(&["env", "mpi/app"], &variables), 125, &["LD_PRELOAD=", "--format shell"]);
    let said = fixture::out(&f.evenkeel_with(&["env", "--format", "shell", "mpi/app"], &variables));
    assert_eq!(said, format!("export LD_PRELOAD='{}/libevenkeel-mpich5.so'\n", shims.display()));
}

#[test]
fn unusable_records_are_refused() {
    let f = Fixture::new();
    assert_fails(&f.evenkeel(&["report", "absent.json"]), 125, &["absent.json"]);
    f.write("broken.json", "{");
    assert_fails(&f.evenkeel(&["report", "broken.json"]), 125, &["not JSON"]);
    f.write("other.json", "[1]");
    assert_fails(&f.evenkeel(&["report", "other.json"]), 125, &["not the record of a run"]);
    f.write("newer.json", r#"{"schema": 99}"#);
    assert_fails(&f.evenkeel(&["report", "newer.json"]), 125, &["number 99", "as new as"]);
    f.write("run.json", &serde_json::to_string(&sample()).unwrap());
    assert_fails(
        &f.evenkeel(&["report", "run.json", "--html", "no/such/page.html"]),
        125,
        &["no/such/page.html"],
    );
}

#[test]
fn a_good_record_is_shown() {
    let f = Fixture::new();
    f.write("run.json", &serde_json::to_string(&sample()).unwrap());
    let shown = f.evenkeel(&["report", "run.json"]);
    assert_eq!(shown.status.code(), Some(0), "{}", fixture::err(&shown));
    assert!(fixture::out(&shown).contains("evenkeel"));
    let page = f.evenkeel(&["report", "run.json", "--html", "run.html"]);
    assert_eq!(page.status.code(), Some(0), "{}", fixture::err(&page));
    assert!(std::fs::read_to_string(f.path("run.html")).unwrap().contains("<html"));
}

fn sample() -> evenkeel_record::RunRecord {
    use evenkeel_record::{RankRecord, RunRecord, SCHEMA};
    let rank =
        |rank| RankRecord { rank, host: "node".into(), elapsed_ns: 1_000_000, ..RankRecord::default() };
    RunRecord {
        schema: SCHEMA,
        version: VERSION.into(),
        program: "./app".into(),
        elapsed_ns: 1_000_000,
        ranks: vec![rank(0), rank(1)],
        ..RunRecord::default()
    }
}

#[test]
fn numbers_are_refused_with_their_range() {
    let f = machine(Kind::Mpich5);
    for (line, why) in [
        ("run -n -1 -- mpi/app", "'-1' for '--ranks <N>': it must be a whole number from 1 on"),
        ("run -n 0 -- mpi/app", "'0' for '--ranks <N>': it must be a whole number from 1 on"),
        ("run -n two -- mpi/app", "it must be a whole number from 1 on"),
        ("run -n 2 --patience -1 -- mpi/app", "it must be a whole number of milliseconds"),
        ("top --interval -1", "it must be a number between"),
        ("where -5", "it must be a whole number"),
        ("simulate dissemination -n -4", "`-4` is not a number of ranks"),
        ("route generate torus --sizes 4,0", "it must be a whole number from 1 on"),
        ("route simulate n.topo --seeds 0", "it must be a whole number from 1 on"),
        ("route simulate n.topo --threads 0", "it must be a whole number from 1 on"),
        ("route simulate n.topo --precision 0", "it must be a number between 0.001 and 1"),
    ] {
        let done = f.evenkeel(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(done.status.code(), Some(2), "{line}: {}", err(&done));
        assert!(err(&done).contains(why), "{line}: {}", err(&done));
    }
}

#[test]
fn what_would_not_fit_into_memory_is_refused() {
    let f = Fixture::new();
    for (line, why) in [
        ("route generate torus --sizes 100000,100000", "more than 100000 switches"),
        ("route generate torus --sizes 4294967296,4294967296", "more than 100000 switches"),
        ("route generate fat-tree --children 200,200,200,200 --parents 1,1,1,1", "more than 100000 switches"),
        ("route generate dragonfly --groups 100000 --switches 100 --global 100", "needs 99999 cables"),
        (
            "route generate hierarchical --groups 9000 --switches 9000 --degree 4 --uplinks 4",
            "100000 switches",
        ),
        ("simulate dissemination -n 4 --iterations 4000000000", "299 GiB in all, and 6 GiB is the most"),
        ("simulate dissemination -n 16777216", "GiB in all, and 6 GiB is the most"),
        ("simulate dissemination -n 4 --cores 2 --switch 1us --iterations 4000000000", "6 GiB is the most"),
    ] {
        assert_fails(&f.evenkeel(&line.split(' ').collect::<Vec<_>>()), 125, &[why]);
    }
}
