//! What is read from program and library files, by the dynamic linker's rules.

mod fixture;

use evenkeel_cli::program::elf::{self, Elf, Unreadable};
use evenkeel_cli::program::loader::{self, Search};
use evenkeel_cli::program::mpi::{self, Abi, Maker};
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
fn a_program_says_what_it_needs() {
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
    assert!(loader::fits_this_machine(&elf));
    assert_eq!(Elf::read(&library).unwrap().soname.as_deref(), Some("libone.so.1"));
    assert!(elf::defines(&library, &["MPI_Init"]));
    assert!(!elf::defines(&program, &["MPI_Init"]));
    assert!(elf::symbols(&program).unwrap().iter().any(|s| s.name == "MPI_Init" && !s.defined));
}

#[test]
fn a_static_program_takes_no_preload() {
    let f = Fixture::new();
    let program = f.program("app", NO_MPI, &["-static", "-nostdlib", "-nostartfiles", "-Wl,-e,main"]);
    let elf = Elf::read(&program).unwrap();
    assert!(!elf.takes_preload());
    assert!(elf.needed.is_empty());
}

#[test]
fn other_files_are_told_apart() {
    let f = Fixture::new();
    let text = f.write("text", "#!/bin/sh\n# long enough for a header\n");
    assert_eq!(Elf::read(&text), Err(Unreadable::NotElf));
    assert_eq!(Elf::read(&f.write("short", "abc")), Err(Unreadable::NotElf));
    assert!(matches!(Elf::read(&f.path("absent")), Err(Unreadable::Io(_))));
    let mut header = [0u8; 64];
    header[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
    std::fs::write(f.path("narrow"), header).unwrap();
    assert_eq!(Elf::read(&f.path("narrow")), Err(Unreadable::OtherFormat("a 32-bit program")));
    header[4..6].copy_from_slice(&[2, 2]);
    std::fs::write(f.path("big"), header).unwrap();
    assert_eq!(Elf::read(&f.path("big")), Err(Unreadable::OtherFormat("a big-endian program")));
}

#[test]
fn a_cut_off_file_is_damaged_but_does_no_harm() {
    let f = Fixture::new();
    let whole = std::fs::read(f.program("app", NO_MPI, &[])).unwrap();
    for length in [64, 200, 1000, whole.len() / 2] {
        std::fs::write(f.path("cut"), &whole[..length]).unwrap();
        let _ = Elf::read(&f.path("cut"));
        let _ = elf::symbols(&f.path("cut"));
    }
    std::fs::write(f.path("cut"), &whole[..64]).unwrap();
    assert!(matches!(Elf::read(&f.path("cut")), Err(Unreadable::Damaged(_))));
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
fn what_is_missing_comes_with_the_places_looked_at() {
    let f = Fixture::new();
    let library = f.library("gone/libmpi.so.40", "libmpi.so.40", INIT, &[]);
    let program = f.program("app", NO_MPI, &[library.to_str().unwrap(), "-Wl,-rpath,/some/where"]);
    std::fs::remove_file(&library).unwrap();
    let found =
        Search { defaults: vec!["/default".into()], ..nowhere() }.resolve(Elf::read(&program).unwrap());
    let missing = found.missing.iter().find(|m| m.name == "libmpi.so.40").unwrap();
    assert_eq!(missing.looked, [PathBuf::from("/some/where"), "/default".into()]);
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
    assert_eq!(mpi::among(&found).unwrap().unwrap_err().1, "libmpi.so.12");
}

#[test]
fn an_empty_entry_of_the_library_path_is_the_current_directory() {
    assert_eq!(loader::split_library_path("/a::/b"), [PathBuf::from("/a"), ".".into(), "/b".into()]);
    assert!(loader::split_library_path("").is_empty());
}
