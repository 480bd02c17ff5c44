//! The pure parts of what evenkeel says about a machine, and the doctor's words from the outside.

mod fixture;

use evenkeel_cli::commands::manual::command as manual;
use evenkeel_cli::machine::limits::{self as quota, Quota};
use evenkeel_cli::program::{bindings, elf::Elf, examination as program, loader::Search, python};
use fixture::{Fixture, Kind, err, out};
use std::path::{Component, Path, PathBuf};

#[test]
fn cpu_quotas_are_read_in_both_versions() {
    assert_eq!(quota::parse_cpu_max("150000 100000\n"), Some(1.5));
    assert_eq!(quota::parse_cpu_max("max 100000\n"), None);
    assert_eq!(quota::parse_cpu_max(""), None);
    assert_eq!(quota::parse_cfs("50000\n", "100000\n"), Some(0.5));
    assert_eq!(quota::parse_cfs("-1\n", "100000\n"), None);
}

#[test]
fn the_tightest_quota_on_the_way_up_counts() {
    let mounts = "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
    let files = |path: &Path| match path.to_str().unwrap() {
        "/sys/fs/cgroup/user/job/cpu.max" => Some("400000 100000".to_string()),
        "/sys/fs/cgroup/user/cpu.max" => Some("200000 100000".to_string()),
        "/sys/fs/cgroup/cpu.max" => Some("max 100000".to_string()),
        _ => None,
    };
    let found = quota::cpu_quota("0::/user/job\n", mounts, files);
    assert_eq!(found, Some(Quota { cores: 2.0, from: "/sys/fs/cgroup/user/cpu.max".into() }));
    assert_eq!(quota::cpu_quota("0::/\n", mounts, |_| None), None);
}

#[test]
fn version_1_and_containers_are_found_their_way() {
    // In a container the hierarchy's root is the container's own group.
    let mounts = "31 20 0:27 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";
    let group = "4:memory:/x\n3:cpu,cpuacct:/docker/abc/inner\n";
    assert_eq!(
        quota::group_directories(group, mounts, "cpu"),
        [PathBuf::from("/sys/fs/cgroup/cpu/inner"), "/sys/fs/cgroup/cpu".into()]
    );
    let files = |path: &Path| match path.to_str().unwrap() {
        "/sys/fs/cgroup/cpu/cpu.cfs_quota_us" => Some("75000".to_string()),
        "/sys/fs/cgroup/cpu/cpu.cfs_period_us" => Some("50000".to_string()),
        _ => None,
    };
    assert_eq!(quota::cpu_quota(group, mounts, files).map(|q| q.cores), Some(1.5));
}

#[test]
fn the_lowest_limit_on_processes_is_named() {
    let mounts = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    let limits = "Limit                     Soft Limit           Hard Limit           Units     \nMax processes             1000                 2000                 processes \n";
    let files = |pids: &'static str| {
        move |path: &Path| match path.to_str().unwrap() {
            "/sys/fs/cgroup/job/pids.max" => Some(pids.to_string()),
            "/proc/sys/kernel/pid_max" => Some("32768\n".to_string()),
            _ => None,
        }
    };
    let of = |pids, limits| quota::lowest_process_limit("0::/job\n", mounts, limits, files(pids));
    assert_eq!(of("64\n", Some(limits)), Some((64, "/sys/fs/cgroup/job/pids.max".into())));
    assert_eq!(of("max\n", Some(limits)), Some((1000, "ulimit -u".into())));
    assert_eq!(of("max\n", None), Some((32768, "/proc/sys/kernel/pid_max".into())));
}

#[test]
fn lists_of_cores_are_read_and_written() {
    assert_eq!(quota::parse_list("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
    assert_eq!(quota::show_list(&[0, 1, 2, 3, 8, 10, 11]), "0-3,8,10-11");
    assert!(quota::parse_list("\n").is_empty());
}

#[test]
fn first_lines_of_scripts() {
    let of = |line| program::shebang(line);
    assert_eq!(of("#!/bin/sh -e").as_deref(), Some("/bin/sh"));
    assert_eq!(of("#! /usr/bin/python3").as_deref(), Some("/usr/bin/python3"));
    assert_eq!(of("#!/usr/bin/env python3").as_deref(), Some("python3"));
    assert_eq!(of("#!/usr/bin/env -S A=1 python3 -u").as_deref(), Some("python3"));
    assert_eq!(of("#!/usr/bin/env -u A python3").as_deref(), Some("python3"));
    assert_eq!(of("#!/usr/bin/env"), None);
    assert_eq!(of("echo"), None);
}

#[test]
fn names_of_python() {
    for name in ["/usr/bin/python3", "python", "python3.11", "pypy3"] {
        assert!(python::is_interpreter(Path::new(name)), "{name}");
    }
    for name in ["python3-config", "pythonic", "/usr/bin/perl"] {
        assert!(!python::is_interpreter(Path::new(name)), "{name}");
    }
    let answer =
        python::parse("module /a/MPI.so\nlibrary /l/libmpi.so.12\nlibrary /l/libmpi.so.12\n").unwrap();
    assert_eq!(answer.libraries, [PathBuf::from("/l/libmpi.so.12")]);
    assert_eq!(python::parse("hello"), None);
}

#[test]
fn bindings_are_judged_by_symbols() {
    let f = Fixture::new();
    let c = f.library(
        "lib/libmpi.so.40",
        "libmpi.so.40",
        "int MPI_Init; int MPI_Barrier; int PMPI_Barrier; int MPI_Ibcast; int MPI_Neighbor_allgather;",
        &[],
    );
    let forwarding = "extern int PMPI_Barrier(void); int mpi_barrier_(void) { return PMPI_Barrier(); } int mpi_scan_f08_; int mpi_init_f08_;";
    let fortran =
        f.library("lib/libmpi_mpifh.so.40", "libmpi_mpifh.so.40", forwarding, &[c.to_str().unwrap()]);
    let deaf = f.library(
        "deaf/libmpi_mpifh.so.40",
        "libmpi_mpifh.so.40",
        "int mpi_barrier_; int mpi_scan_f08_;",
        &[],
    );
    let uses = |name: &str, body: &str, library: &Path| {
        let program = f.program(
            name,
            body,
            &[
                library.to_str().unwrap(),
                c.to_str().unwrap(),
                &format!("-Wl,-rpath,{}:{}", library.parent().unwrap().display(), f.path("lib").display()),
            ],
        );
        bindings::of(&Search::default().resolve(Elf::read(&program).unwrap()), false)
    };
    let found = uses(
        "one",
        "int MPI_Ibcast(void), MPI_Neighbor_allgather(void); int main(void) { return MPI_Ibcast() + MPI_Neighbor_allgather(); }",
        &fortran,
    );
    assert_eq!(found.used.iter().map(|b| (b.name, b.covered)).collect::<Vec<_>>(), [("C", true)]);
    assert_eq!(found.collectives.iter().collect::<Vec<_>>(), ["ibcast", "neighbor_allgather"]);
    assert!(
        bindings::is_served("ibcast")
            && !bindings::is_served("neighbor_allgather")
            && !bindings::is_served("barrier_init")
    );
    let body = "int mpi_barrier_(void), mpi_scan_f08_(void); int main(void) { return mpi_barrier_() + mpi_scan_f08_(); }";
    for (name, library, covered) in [("two", &fortran, true), ("three", &deaf, false)] {
        let mut used: Vec<(&str, bool)> =
            uses(name, body, library).used.iter().map(|b| (b.name, b.covered)).collect();
        used.sort();
        assert_eq!(used, [("Fortran (mpif.h or use mpi)", covered), ("Fortran 2008 (use mpi_f08)", covered)]);
    }
}

#[test]
fn the_doctor_speaks_of_machine_and_program() {
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
    assert!(out(&f.evenkeel(&["doctor"])).contains("evenkeel-agent is there"));
    assert!(
        text.trim_end().ends_with("evenkeel can run mpi/app.") == (said.status.code() == Some(0)),
        "{text}"
    );
}

#[test]
fn the_doctor_says_what_is_wrong() {
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
fn a_system_call_of_ones_own_is_caught() {
    let f = Fixture::new();
    let said = f.evenkeel(&["doctor-peer", "catch"]);
    assert_eq!(said.status.code(), Some(0), "{}", err(&said));
    let text = out(&said);
    let excuse = ["since 5.11", "x86-64 only", "not permitted"].iter().any(|e| text.contains(e));
    assert!(text == "works\n" || excuse, "{text}");
}

#[test]
fn the_books_page_of_options_is_current() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/options.md");
    let text = std::fs::read_to_string(&page).unwrap();
    assert_eq!(text, manual::options_markdown(), "run: evenkeel options --markdown > docs/src/options.md");
}

#[test]
fn manual_pages_and_completions_are_made() {
    let f = Fixture::new();
    assert_eq!(f.evenkeel(&["man", "man"]).status.code(), Some(0));
    for page in ["evenkeel.1", "evenkeel-run.1", "evenkeel-doctor.1", "evenkeel-noise.1"] {
        assert!(f.path("man").join(page).is_file(), "{page}");
    }
    for hidden in ["evenkeel-doctor-peer.1", "evenkeel-injector.1"] {
        assert!(!f.path("man").join(hidden).exists(), "hidden commands have no page");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(out(&f.evenkeel(&["completions", shell])).contains("evenkeel"), "{shell}");
    }
}

/// The same path without steps back: so that a page that is reached in two ways is one.
fn straight(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for part in path.components() {
        if part != Component::ParentDir
            || matches!(straight.components().next_back(), None | Some(Component::ParentDir))
        {
            straight.push(part);
        } else {
            straight.pop();
        }
    }
    straight
}

#[test]
fn the_book_hangs_together() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let mut pages = vec![PathBuf::from("SUMMARY.md")];
    let mut done = 0;
    while done < pages.len() {
        let page = pages[done].clone();
        done += 1;
        let text =
            std::fs::read_to_string(book.join(&page)).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with('#') || target.contains("://") {
                continue;
            }
            let target = straight(&page.parent().unwrap().join(target.split('#').next().unwrap()));
            assert!(
                book.join(&target).is_file(),
                "{} points to {}, which is not there",
                page.display(),
                target.display()
            );
            if !pages.contains(&target) {
                pages.push(target);
            }
        }
    }
    let listed = std::fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    for entry in book.read_dir().unwrap().chain(book.join("decisions").read_dir().unwrap()).flatten() {
        let name = entry.file_name().into_string().unwrap();
        assert!(
            !name.ends_with(".md") || name == "SUMMARY.md" || listed.contains(&name),
            "{name} is not in SUMMARY.md"
        );
    }
}
