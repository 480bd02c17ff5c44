//! What is read from programs and libraries, by the dynamic linker's rules.

mod fixture;

use evenkeel_cli::program::elf::{self, Elf, ElfError};
use evenkeel_cli::program::loader::{self, Search};
use evenkeel_cli::program::mpi::{self, Abi, Maker};
use evenkeel_cli::program::{bindings, python, script};
use fixture::{CALLS_INIT, Fixture, INIT, Kind, NO_MPI};
use std::path::{Path, PathBuf};

fn nowhere() -> Search {
    Search::default()
}

fn resolved_path(search: &Search, program: &Path, name: &str) -> Option<PathBuf> {
    let found = search.resolve(Elf::read(program).unwrap());
    found.loaded.iter().find(|l| l.name == name).map(|l| l.elf.path.clone())
}

#[test]
fn the_libraries_that_a_program_needs_are_read() {
    let f = Fixture::new();
    let library = f.library("lib/libone.so", "libone.so.1", INIT, &[]);
    let program = f.program(
        "app",
        CALLS_INIT,
        &[library.to_str().unwrap(), "-Wl,--enable-new-dtags,-rpath,/nowhere:$ORIGIN/lib"],
    );
    let elf = Elf::read(&program).unwrap();
    assert!(elf.needed.contains(&"libone.so.1".to_string()), "{:?}", elf.needed);
    assert_eq!(elf.runpath, ["/nowhere", "$ORIGIN/lib"]);
    assert!(elf.rpath.is_empty());
    assert!(elf.takes_preload());
    assert!(elf.fits_this_machine());
    assert_eq!(Elf::read(&library).unwrap().soname.as_deref(), Some("libone.so.1"));
    assert!(elf::defines(&library, &["MPI_Init"]));
    assert!(!elf::defines(&program, &["MPI_Init"]));
    assert!(elf::symbols(&program).unwrap().iter().any(|s| s.name == "MPI_Init" && !s.defined));
}

#[test]
fn a_static_program_cannot_be_preloaded() {
    let f = Fixture::new();
    let program = f.program("app", NO_MPI, &["-static", "-nostdlib", "-nostartfiles", "-Wl,-e,main"]);
    let elf = Elf::read(&program).unwrap();
    assert!(!elf.takes_preload());
    assert!(elf.needed.is_empty());
}

#[test]
fn files_that_are_not_64_bit_little_endian_elf_are_refused() {
    let f = Fixture::new();
    let text = f.write("text", "#!/bin/sh\n# long enough for a header\n");
    assert_eq!(Elf::read(&text), Err(ElfError::NotElf));
    assert_eq!(Elf::read(&f.write("short", "abc")), Err(ElfError::NotElf));
    assert!(matches!(Elf::read(&f.path("absent")), Err(ElfError::Io(_))));
    let mut header = [0u8; 64];
    header[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
    std::fs::write(f.path("narrow"), header).unwrap();
    assert_eq!(Elf::read(&f.path("narrow")), Err(ElfError::OtherFormat("a 32-bit program")));
    header[4..6].copy_from_slice(&[2, 2]);
    std::fs::write(f.path("big"), header).unwrap();
    assert_eq!(Elf::read(&f.path("big")), Err(ElfError::OtherFormat("a big-endian program")));
}

#[test]
fn a_truncated_file_is_an_error() {
    let f = Fixture::new();
    let whole = std::fs::read(f.program("app", NO_MPI, &[])).unwrap();
    for length in [64, 200, 1000, whole.len() / 2] {
        std::fs::write(f.path("cut"), &whole[..length]).unwrap();
        let _ = Elf::read(&f.path("cut"));
        let _ = elf::symbols(&f.path("cut"));
    }
    std::fs::write(f.path("cut"), &whole[..64]).unwrap();
    assert!(matches!(Elf::read(&f.path("cut")), Err(ElfError::Damaged(_))));
}

#[test]
fn runpath_is_the_needing_files_own_and_rpath_is_inherited() {
    for (tags, inherited) in [("--enable-new-dtags", false), ("--disable-new-dtags", true)] {
        let f = Fixture::new();
        let inner = f.library("deep/libinner.so", "libinner.so", INIT, &[]);
        let outer = f.library("lib/libouter.so", "libouter.so", "int outer;", &[inner.to_str().unwrap()]);
        let rpath = format!("-Wl,{tags},-rpath,$ORIGIN/lib:${{ORIGIN}}/deep");
        let program = f.program(
            "app",
            NO_MPI,
            &[
                outer.to_str().unwrap(),
                &rpath,
                "-Wl,--allow-shlib-undefined",
                &format!("-Wl,-rpath-link,{}", f.path("deep").display()),
            ],
        );
        assert_eq!(resolved_path(&nowhere(), &program, "libouter.so"), Some(outer), "{tags}");
        assert_eq!(resolved_path(&nowhere(), &program, "libinner.so").is_some(), inherited, "{tags}");
    }
}

#[test]
fn library_path_comes_before_runpath_and_after_rpath() {
    for (tags, first) in [("--enable-new-dtags", "other"), ("--disable-new-dtags", "lib")] {
        let f = Fixture::new();
        let own = f.library("lib/libone.so", "libone.so", INIT, &[]);
        f.library("other/libone.so", "libone.so", INIT, &[]);
        let program =
            f.program("app", NO_MPI, &[own.to_str().unwrap(), &format!("-Wl,{tags},-rpath,$ORIGIN/lib")]);
        let search = Search { library_path: vec![f.path("other")], ..nowhere() };
        assert_eq!(
            resolved_path(&search, &program, "libone.so"),
            Some(f.path(first).join("libone.so")),
            "{tags}"
        );
    }
}

#[test]
fn the_cache_comes_before_the_default_directories() {
    let f = Fixture::new();
    let cached = f.library("cached/libone.so", "libone.so", INIT, &[]);
    let default = f.library("default/libone.so", "libone.so", INIT, &[]);
    let program = f.program("app", NO_MPI, &[cached.to_str().unwrap()]);
    let mut search = Search { defaults: vec![f.path("default")], ..nowhere() };
    assert_eq!(resolved_path(&search, &program, "libone.so"), Some(default));
    search.cache =
        loader::parse_cache(&format!("2 libs found\n\tlibone.so (libc6,x86-64) => {}\n", cached.display()));
    assert_eq!(resolved_path(&search, &program, "libone.so"), Some(cached));
}

#[test]
fn a_missing_library_is_reported_with_the_searched_directories() {
    let f = Fixture::new();
    let library = f.library("gone/libmpi.so.40", "libmpi.so.40", INIT, &[]);
    let program = f.program("app", NO_MPI, &[library.to_str().unwrap(), "-Wl,-rpath,/some/where"]);
    std::fs::remove_file(&library).unwrap();
    let found =
        Search { defaults: vec!["/default".into()], ..nowhere() }.resolve(Elf::read(&program).unwrap());
    let missing = found.missing.iter().find(|m| m.name == "libmpi.so.40").unwrap();
    assert_eq!(missing.searched, [PathBuf::from("/some/where"), "/default".into()]);
    assert_eq!(missing.needed_by, program);
}

#[test]
fn every_mpi_is_recognised() {
    for (kind, abi, maker) in [
        (Kind::OpenMpi4, Abi::OpenMpi4, Maker::OpenMpi),
        (Kind::OpenMpi5, Abi::OpenMpi5, Maker::OpenMpi),
        (Kind::Mpich4, Abi::Mpich4, Maker::Mpich),
        (Kind::Mpich5, Abi::Mpich5, Maker::Mpich),
        (Kind::Standard, Abi::Standard, Maker::Mpich),
    ] {
        let f = Fixture::new();
        let file = f.mpi("mpi", kind);
        let found = nowhere().resolve(Elf::read(&f.path("mpi/app")).unwrap());
        let library = mpi::among(&found).unwrap().unwrap();
        assert_eq!((library.abi, library.maker), (abi, maker), "{kind:?}");
        assert_eq!(library.path.canonicalize().unwrap(), file);
    }
    let f = Fixture::new();
    f.mpi("mpi", Kind::OpenMpi1);
    let found = nowhere().resolve(Elf::read(&f.path("mpi/app")).unwrap());
    assert_eq!(mpi::among(&found).unwrap().unwrap_err().soname, "libmpi.so.12");
}

#[test]
fn an_empty_entry_of_the_library_path_is_the_current_directory() {
    assert_eq!(loader::split_library_path("/a::/b"), [PathBuf::from("/a"), ".".into(), "/b".into()]);
    assert!(loader::split_library_path("").is_empty());
}

#[test]
fn the_first_line_of_a_script_names_its_interpreter() {
    let of = |line| script::shebang(line);
    assert_eq!(of("#!/bin/sh -e").as_deref(), Some("/bin/sh"));
    assert_eq!(of("#! /usr/bin/python3").as_deref(), Some("/usr/bin/python3"));
    assert_eq!(of("#!/usr/bin/env python3").as_deref(), Some("python3"));
    assert_eq!(of("#!/usr/bin/env -S A=1 python3 -u").as_deref(), Some("python3"));
    assert_eq!(of("#!/usr/bin/env -u A python3").as_deref(), Some("python3"));
    assert_eq!(of("#!/usr/bin/env"), None);
    assert_eq!(of("echo"), None);
}

#[test]
fn python_interpreters_are_known_by_their_names() {
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
fn symbols_tell_which_bindings_are_covered() {
    let f = Fixture::new();
    let c = f.library(
        "lib/libmpi.so.40",
        "libmpi.so.40",
        "int MPI_Init; int MPI_Barrier; int PMPI_Barrier; int MPI_Ibcast; int MPI_Neighbor_allgather;",
        &[],
    );
    let forwarding = "extern int PMPI_Barrier(void); int mpi_barrier_(void) { return PMPI_Barrier(); } int \
                      mpi_scan_f08_; int mpi_init_f08_;";
    let fortran =
        f.library("lib/libmpi_mpifh.so.40", "libmpi_mpifh.so.40", forwarding, &[c.to_str().unwrap()]);
    let unlinked = "int mpi_barrier_; int mpi_scan_f08_;";
    let unlinked = f.library("unlinked/libmpi_mpifh.so.40", "libmpi_mpifh.so.40", unlinked, &[]);
    let uses = |name: &str, body: &str, library: &Path| {
        let rpath = format!("-Wl,-rpath,{}:{}", library.parent().unwrap().display(), f.path("lib").display());
        let program = f.program(name, body, &[library.to_str().unwrap(), c.to_str().unwrap(), &rpath]);
        bindings::of(&Search::default().resolve(Elf::read(&program).unwrap()), false)
    };
    let found = uses(
        "one",
        "int MPI_Ibcast(void), MPI_Neighbor_allgather(void); int main(void) { return MPI_Ibcast() + \
         MPI_Neighbor_allgather(); }",
        &fortran,
    );
    assert_eq!(found.used.iter().map(|b| (b.name, b.covered)).collect::<Vec<_>>(), [("C", true)]);
    assert_eq!(found.collectives.iter().collect::<Vec<_>>(), ["ibcast", "neighbor_allgather"]);
    assert!(
        bindings::is_served("ibcast")
            && !bindings::is_served("neighbor_allgather")
            && !bindings::is_served("barrier_init")
    );
    let body = "int mpi_barrier_(void), mpi_scan_f08_(void); int main(void) { return mpi_barrier_() + \
                mpi_scan_f08_(); }";
    for (name, library, covered) in [("two", &fortran, true), ("three", &unlinked, false)] {
        let mut used: Vec<(&str, bool)> =
            uses(name, body, library).used.iter().map(|b| (b.name, b.covered)).collect();
        used.sort();
        assert_eq!(used, [("Fortran (mpif.h or use mpi)", covered), ("Fortran 2008 (use mpi_f08)", covered)]);
    }
}
