//! `evenkeel run` and `evenkeel env` from the outside: which launcher is started with which arguments.

mod fixture;

use evenkeel_cli::launch::launcher::{self, LauncherStyle as Style};
use fixture::{Fixture, Kind, NO_MPI, PRINT_ARGUMENTS, err, out};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn machine(kind: Kind) -> Fixture {
    let f = Fixture::new();
    f.mpi("mpi", kind);
    f.shims(VERSION);
    f
}

fn shim(f: &Fixture, name: &str) -> String {
    f.path(&format!("shims/libevenkeel-{name}.so")).display().to_string()
}

#[test]
fn open_mpi_gets_its_launcher_and_exported_variables() {
    for (kind, name) in [(Kind::OpenMpi4, "openmpi4"), (Kind::OpenMpi5, "openmpi5")] {
        let f = machine(kind);
        let done = f.evenkeel(&[
            "run",
            "-n",
            "600",
            "--wait",
            "yield",
            "--",
            "mpi/app",
            "one",
            "two words",
            "--wait",
        ]);
        assert_eq!(done.status.code(), Some(7), "the launcher's exit code: {}", err(&done));
        let said = out(&done);
        let lines: Vec<&str> = said.lines().collect();
        let preload = format!("LD_PRELOAD={}", shim(&f, name));
        let wanted = [
            "--oversubscribe",
            "--bind-to",
            "none",
            "-x",
            &preload,
            "-x",
            "EVENKEEL_WAIT=yield",
            "-n",
            "600",
            "mpi/app",
            "one",
            "two words",
            "--wait",
        ];
        assert_eq!(lines, wanted);
    }
}

#[test]
fn mpich_gets_general_variables() {
    for (kind, name) in [(Kind::Mpich4, "mpich4"), (Kind::Mpich5, "mpich5"), (Kind::Standard, "mpiabi")] {
        let f = machine(kind);
        let done = f.evenkeel(&["run", "-n", "2", "--quiet", "--", "mpi/app"]);
        let said = out(&done);
        let wanted =
            ["-genv", "LD_PRELOAD", &shim(&f, name), "-genv", "EVENKEEL_QUIET", "1", "-n", "2", "mpi/app"];
        assert_eq!(said.lines().collect::<Vec<_>>(), wanted, "{}", err(&done));
    }
}

#[test]
fn the_users_own_binding_and_mapping_stay() {
    let f = machine(Kind::OpenMpi4);
    let said = out(&f.evenkeel(&[
        "run",
        "-n",
        "600",
        "--launcher-args",
        "--bind-to core --hostfile 'my hosts'",
        "--",
        "mpi/app",
    ]));
    assert!(!said.contains("--oversubscribe") && !said.contains("none"), "{said}");
    assert!(said.contains("--bind-to\ncore\n--hostfile\nmy hosts\n"), "{said}");
    let said = out(&f.evenkeel(&["run", "-n", "2", "--place", "none", "--", "mpi/app"]));
    assert!(!said.contains("--bind-to"), "evenkeel does not place, so the launcher may: {said}");
}

#[test]
fn a_named_launcher_gets_arguments_of_its_own_style() {
    let f = machine(Kind::Mpich5);
    f.script("bin/srun", PRINT_ARGUMENTS);
    let done = f.evenkeel(&["run", "-n", "8", "--wait", "block", "--launcher", "srun", "--", "mpi/app"]);
    let export = format!("--export=ALL,LD_PRELOAD={},EVENKEEL_WAIT=block", shim(&f, "mpich5"));
    assert_eq!(out(&done).lines().collect::<Vec<_>>(), [&export, "-n", "8", "mpi/app"], "{}", err(&done));
}

#[test]
fn launchers_get_variables_of_their_own() {
    let library = Path::new("/lib/one.so");
    let of = |style, root, library, preloaded| launcher::own_variables(style, root, library, preloaded);
    let names: Vec<String> =
        of(Style::OpenMpi, true, Some(library), "").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(names.iter().all(|n| n.contains("ALLOW_RUN_AS_ROOT")), "{names:?}");
    assert!(of(Style::OpenMpi, false, Some(library), "").is_empty());
    let preload = |value: &str| vec![("LD_PRELOAD".to_string(), value.to_string())];
    assert_eq!(of(Style::Hydra, true, Some(library), ""), preload("/lib/one.so"));
    assert_eq!(of(Style::Hydra, true, Some(library), "/lib/tool.so"), preload("/lib/tool.so:/lib/one.so"));
    assert!(of(Style::Hydra, true, None, "/lib/tool.so").is_empty());
    assert!(of(Style::Slurm, true, Some(library), "").is_empty());
}

#[test]
fn a_dry_run_shows_the_line_and_starts_nothing() {
    let f = machine(Kind::Mpich4);
    let done = f.evenkeel(&["run", "-n", "3", "--dry-run", "--", "mpi/app", "a b"]);
    assert_eq!(done.status.code(), Some(0));
    let launcher = f.path("mpi/bin/mpiexec");
    assert_eq!(
        out(&done),
        format!("{} -genv LD_PRELOAD {} -n 3 mpi/app 'a b'\n", launcher.display(), shim(&f, "mpich4"))
    );
}

#[test]
fn existing_preloads_stay_in_front() {
    let f = machine(Kind::Mpich5);
    let variables = [("LD_PRELOAD", ""), ("EVENKEEL_WAIT", "spin")];
    let said = out(&f.evenkeel_with(&["env", "mpi/app"], &variables));
    assert_eq!(said, format!("-genv LD_PRELOAD {} -genv EVENKEEL_WAIT spin\n", shim(&f, "mpich5")));
    let tool = f.library("lib/libtool.so", "libtool.so", "int tool;", &[]);
    let said = out(&f.evenkeel_with(&["env", "mpi/app"], &[("LD_PRELOAD", tool.to_str().unwrap())]));
    assert_eq!(said, format!("-genv LD_PRELOAD {}:{}\n", tool.display(), shim(&f, "mpich5")));
}

#[test]
fn the_command_line_wins_over_the_environment() {
    let f = machine(Kind::Mpich5);
    let said = out(&f.evenkeel_with(&["env", "--wait", "block", "mpi/app"], &[("EVENKEEL_WAIT", "spin")]));
    assert!(said.contains("EVENKEEL_WAIT block") && !said.contains("spin"), "{said}");
}

#[test]
fn variables_are_checked_as_options_are() {
    let f = machine(Kind::Mpich5);
    for (name, value) in [
        ("PLACE", "foo"),
        ("CMA", "x"),
        ("MESSAGES", "x"),
        ("NODES", "x"),
        ("TRACE_LEVEL", "foo"),
        ("PATIENCE_MS", "x"),
        ("PORTS", "10-5"),
        ("TRACE_CHECKS", "0"),
        ("OFF", "2"),
        ("OFF", "true"),
    ] {
        let variable = format!("EVENKEEL_{name}");
        let said = format!("cannot use {variable}={value}: it must be ");
        for line in [&["run", "-n", "2", "mpi/app"][..], &["env", "mpi/app"]] {
            let done = f.evenkeel_with(line, &[(&variable, value)]);
            fixture::assert_fails(&done, 125, &[&said, "Correct or unset it."]);
        }
    }
}

#[test]
fn run_warns_of_variables_that_are_no_options() {
    let f = machine(Kind::Mpich5);
    let done = f.evenkeel_with(&["run", "-n", "2", "mpi/app"], &[("EVENKEEL_WAITS", "spin")]);
    assert_eq!(done.status.code(), Some(7), "it runs");
    assert!(err(&done).starts_with("evenkeel: EVENKEEL_WAITS is no option"), "{}", err(&done));
    assert!(err(&done).contains("The nearest one is EVENKEEL_WAIT"), "{}", err(&done));
    let none = f.evenkeel_with(&["run", "-n", "2", "mpi/app"], &[("EVENKEEL_LOG", "off")]);
    assert_eq!(err(&none), "");
}

#[test]
fn env_prints_the_arguments_of_each_launcher() {
    let f = machine(Kind::OpenMpi5);
    let shim = shim(&f, "openmpi5");
    assert_eq!(out(&f.evenkeel(&["env", "mpi/app"])), format!("-x LD_PRELOAD={shim}\n"));
    assert_eq!(
        out(&f.evenkeel(&["env", "--launcher", "srun", "mpi/app"])),
        format!("--export=ALL,LD_PRELOAD={shim}\n")
    );
    assert_eq!(
        out(&f.evenkeel(&["env", "--format", "shell", "mpi/app"])),
        format!("export LD_PRELOAD={shim}\n")
    );
}

#[test]
fn env_makes_no_line_for_launchers_whose_arguments_are_not_known() {
    let f = machine(Kind::OpenMpi5);
    for launcher in ["flux", "aprun", "/opt/ibm/jsrun", "/opt/cray/pals/1.2/bin/mpiexec"] {
        let words = ["cannot start ranks by", launcher, "evenkeel env --format shell"];
        fixture::assert_fails(&f.evenkeel(&["env", "--launcher", launcher, "mpi/app"]), 125, &words);
        let lines = f.evenkeel(&["env", "--launcher", launcher, "--format", "shell", "mpi/app"]);
        assert!(out(&lines).starts_with("export LD_PRELOAD="), "{}", err(&lines));
    }
}

#[test]
fn env_finds_a_named_mpi_beside_the_launcher_on_path() {
    let f = machine(Kind::Mpich5);
    let path = format!("{}:/usr/bin:/bin", f.path("mpi/bin").display());
    let said = out(&f.evenkeel_with(&["env", "--mpi", "mpich"], &[("PATH", &path)]));
    assert_eq!(said, format!("-genv LD_PRELOAD {}\n", shim(&f, "mpich5")));
}

#[test]
fn a_python_program_is_asked_for_its_mpi() {
    let f = machine(Kind::Mpich5);
    let library = f.path("mpi/lib/libmpi.so.12").display().to_string();
    let module = f.library("site/MPI.so", "MPI.so", "int module;", &[&library]).display().to_string();
    f.script("bin/python3", &format!("#!/bin/sh\necho module {module}\necho library {library}\n"));
    let script = f.script("job.py", "#!/usr/bin/env python3\nfrom mpi4py import MPI\n");
    for program in ["python3", script.to_str().unwrap()] {
        let said = out(&f.evenkeel(&["run", "-n", "2", "--", program]));
        assert!(said.contains(&format!("LD_PRELOAD\n{}\n", shim(&f, "mpich5"))), "{program}: {said}");
    }
}

#[test]
fn a_wrapper_script_runs_with_a_named_mpi() {
    let f = machine(Kind::Mpich5);
    f.script("wrap.sh", "#!/bin/sh\nexec mpi/app\n");
    let path = format!("{}:/usr/bin:/bin", f.path("mpi/bin").display());
    let done = f.evenkeel_with(&["run", "-n", "2", "--mpi", "mpich", "--", "./wrap.sh"], &[("PATH", &path)]);
    let wanted = ["-genv", "LD_PRELOAD", &shim(&f, "mpich5"), "-n", "2", "./wrap.sh"];
    assert_eq!(out(&done).lines().collect::<Vec<_>>(), wanted, "{}", err(&done));
}

#[test]
fn a_static_program_runs_unmodified_where_its_mpi_is_named() {
    let f = machine(Kind::Mpich5);
    f.program("still", NO_MPI, &["-static", "-nostdlib", "-nostartfiles", "-Wl,-e,main"]);
    let path = format!("{}:/usr/bin:/bin", f.path("mpi/bin").display());
    let done = f.evenkeel_with(&["run", "-n", "2", "--mpi", "mpich", "--", "./still"], &[("PATH", &path)]);
    assert_eq!(done.status.code(), Some(7));
    assert!(err(&done).contains("./still is linked statically"), "{}", err(&done));
    assert!(out(&done).ends_with("-n\n2\n./still\n"));
}

#[test]
fn evenkeel_becomes_the_launcher_so_signals_reach_it() {
    let f = machine(Kind::Mpich5);
    f.script("mpi/bin/mpiexec", "#!/bin/sh\necho $$\nkill -TERM $$\n");
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .args(["run", "-n", "2", "--", "mpi/app"])
        .current_dir(f.path(""))
        .env("EVENKEEL_LIB", f.path("shims"))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let done = child.wait_with_output().unwrap();
    assert_eq!(out(&done), format!("{pid}\n"));
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&done.status), Some(15));
}

#[test]
fn a_network_has_any_name() {
    let f = machine(Kind::Mpich5);
    for network in ["eth0", "10.1.0.0/16", "any"] {
        let said = out(&f.evenkeel(&["env", "--network", network, "mpi/app"]));
        assert!(said.ends_with(&format!("-genv EVENKEEL_NETWORK {network}\n")), "{said}");
    }
}

#[test]
fn the_report_file_becomes_absolute() {
    let f = machine(Kind::Mpich5);
    let said = out(&f.evenkeel(&["run", "-n", "2", "--report", "run.json", "--", "mpi/app"]));
    assert!(said.contains(&format!("EVENKEEL_REPORT\n{}\n", f.path("run.json").display())), "{said}");
}

/// `name` with a byte behind it that is no UTF-8.
fn with_byte(name: &str) -> OsString {
    OsString::from_vec([name.as_bytes(), b"\xff"].concat())
}

#[test]
fn a_program_and_its_arguments_may_be_any_bytes() {
    let f = machine(Kind::Mpich5);
    let program = with_byte("mpi/app");
    std::fs::copy(f.path("mpi/app"), f.path("").join(&program)).unwrap();
    let run = |more: &str| {
        let mut command = f.command(&["run", "-n", "2"]);
        command.args(Some(more).filter(|more| !more.is_empty()));
        command.arg("--").arg(&program).arg(with_byte("a'b")).output().unwrap()
    };
    let done = run("");
    assert_eq!(done.status.code(), Some(7), "{}", err(&done));
    assert!(done.stdout.ends_with(b"\nmpi/app\xff\na'b\xff\n"), "{}", out(&done));
    let said = out(&run("--dry-run"));
    assert!(said.ends_with(" -n 2 $'mpi/app\\xff' $'a\\'b\\xff'\n"), "{said}");
    let said = out(&f.command(&["env"]).arg(&program).output().unwrap());
    assert!(said.starts_with("-genv LD_PRELOAD"), "{said}");
    // Traces keep them as text.
    let done = run("--trace=t");
    fixture::assert_fails(&done, 125, &["cannot record", r#""mpi/app\xFF""#, "not UTF-8"]);
    assert!(!f.path("t").exists());
}

#[test]
fn options_that_are_not_utf8_are_refused_by_name() {
    let f = machine(Kind::Mpich5);
    let done =
        f.command(&["run", "-n", "2", "--report"]).arg(with_byte("r")).arg("mpi/app").output().unwrap();
    assert_eq!((done.status.code(), out(&done)), (Some(2), String::new()));
    assert!(err(&done).starts_with(r#"error: "r\xFF" is not UTF-8, which options"#), "{}", err(&done));
    let folder = f.path("").join(with_byte("folder"));
    std::fs::create_dir(&folder).unwrap();
    let mut command = f.command(&["run", "-n", "2", "--report", "r.json"]);
    let done = command.arg(f.path("mpi/app")).current_dir(&folder).output().unwrap();
    fixture::assert_fails(&done, 125, &[r#"folder\xFF/r.json""#, "not UTF-8"]);
}

#[test]
fn a_job_that_leaves_no_report_is_told_so() {
    let f = machine(Kind::Mpich5);
    let run = || f.evenkeel(&["run", "-n", "2", "--report", "run.json", "--", "mpi/app"]);
    let done = run();
    assert_eq!(done.status.code(), Some(7), "the launcher's exit code: {}", err(&done));
    let whole = "evenkeel: no report was written to run.json, because the job ended with exit code 7 before \
                 all ranks had come to MPI_Finalize, where rank 0 gathers what they have counted. What ranks \
                 do up to a crash is kept by --trace DIRECTORY --trace-level times.\n";
    assert_eq!(err(&done), whole);
    f.script("mpi/bin/mpiexec", "#!/bin/sh\necho {} >run.json\nexit 3\n");
    let done = run();
    assert_eq!((done.status.code(), err(&done)), (Some(3), String::new()), "it was written");
    f.script("mpi/bin/mpiexec", "#!/bin/sh\n");
    let done = run();
    assert_eq!(done.status.code(), Some(0));
    assert!(err(&done).contains("no report was written to run.json, though"), "{}", err(&done));
    assert!(err(&done).ends_with("of an earlier run.\n"), "{}", err(&done));
}

#[test]
fn signals_reach_the_launcher_of_a_run_with_a_report() {
    let f = machine(Kind::Mpich5);
    f.script("mpi/bin/mpiexec", "#!/bin/sh\nkill -TERM $PPID\nexec sleep 600\n");
    let done = f.evenkeel(&["run", "-n", "2", "--report", "run.json", "--", "mpi/app"]);
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&done.status), Some(15));
}

#[test]
fn batch_systems_are_not_asked_for_hosts_of_a_job_that_ends_in_time() {
    let f = machine(Kind::Mpich5);
    f.script("bin/scontrol", &format!("#!/bin/sh\necho asked >>{}\n", f.path("asked").display()));
    let run = |arguments: &[&str]| {
        let line = [&["run", "-n", "2"], arguments, &["--", "mpi/app"]].concat();
        let done = f.evenkeel_with(&line, &[("SLURM_JOB_NODELIST", "n[1-2]")]);
        (done.status.code(), f.path("asked").exists())
    };
    assert_eq!(run(&["--timeout", "1h"]), (Some(7), false));
    assert_eq!(run(&["--timeout", "1h", "--deadlock", "report"]), (Some(7), true));
}

#[test]
fn hosts_that_only_a_launcher_knows_are_passed_on_or_refused() {
    let f = machine(Kind::OpenMpi4);
    let said = out(&f.evenkeel(&["run", "-n", "2", "--launcher-args", "--host +n0", "--", "mpi/app"]));
    assert!(said.contains("\n--host\n+n0\n"), "{said}");
    let f = machine(Kind::Mpich5);
    let line = ["run", "-n", "2", "--launcher", "evenkeel", "--hosts", "+n0,a", "--", "mpi/app"];
    fixture::assert_fails(&f.evenkeel(&line), 125, &["cannot use --hosts: `+n0`", "--launcher-args"]);
    let done = f.evenkeel(&["exec", "--hosts", "+n0", "--", "true"]);
    fixture::assert_fails(&done, 125, &["cannot use --hosts: `+n0`"]);
}

#[test]
fn env_prints_what_open_mpi_needs_for_so_many_ranks() {
    let f = machine(Kind::OpenMpi5);
    let env = |more: &[&str]| out(&f.evenkeel(&[&["env"], more, &["mpi/app"]].concat()));
    let preload = format!("LD_PRELOAD={}", shim(&f, "openmpi5"));
    assert_eq!(env(&["-n", "600"]), format!("-n 600 --oversubscribe --bind-to none -x {preload}\n"));
    assert_eq!(env(&["-n", "1"]), format!("-n 1 --bind-to none -x {preload}\n"));
    let unplaced = format!("-n 1 -x {preload} -x EVENKEEL_PLACE=none\n");
    assert_eq!(env(&["-n", "1", "--place", "none"]), unplaced);
    assert_eq!(env(&["-n", "9", "--launcher", "srun"]), format!("-n 9 --export=ALL,{preload}\n"));
    let for_launcher = "export OMPI_MCA_rmaps_base_oversubscribe=1\n\
                        export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe\n\
                        export OMPI_MCA_hwloc_base_binding_policy=none\n\
                        export PRTE_MCA_hwloc_default_binding_policy=none\n";
    let lines = env(&["-n", "600", "--format", "shell"]);
    assert_eq!(lines, format!("export {preload}\n{for_launcher}"));
    let f = machine(Kind::Mpich5);
    let said = out(&f.evenkeel(&["env", "-n", "600", "mpi/app"]));
    assert_eq!(said, format!("-n 600 -genv LD_PRELOAD {}\n", shim(&f, "mpich5")));
}

#[test]
fn more_ranks_than_a_machine_can_have_are_refused_before_the_launcher_starts() {
    let f = machine(Kind::OpenMpi4);
    let run = |more: &[&str]| f.evenkeel(&[&["run", "-n", "4294967295"], more, &["--", "mpi/app"]].concat());
    fixture::assert_fails(&run(&[]), 125, &["cannot start 4294967295 ranks", "Ask for fewer ranks"]);
    let elsewhere = run(&["--launcher-args", "--host a"]);
    assert_eq!(elsewhere.status.code(), Some(7), "limits there are others: {}", err(&elsewhere));
}

#[test]
fn a_launcher_may_have_the_files_open_that_it_needs_for_its_ranks() {
    let f = machine(Kind::OpenMpi4);
    f.script("mpi/bin/mpirun", "#!/bin/sh\nulimit -Sn\n");
    let limit = |ranks: &str| {
        let mut command = f.command(&["run", "-n", ranks, "--", "mpi/app"]);
        // SAFETY: setrlimit may be called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
                let lower = rustix::process::Rlimit { current: Some(100), maximum: limit.maximum };
                Ok(rustix::process::setrlimit(rustix::process::Resource::Nofile, lower)?)
            });
        }
        out(&command.output().unwrap())
    };
    assert_eq!(limit("9"), "100\n", "it is enough");
    assert_eq!(limit("50"), "264\n");
}
