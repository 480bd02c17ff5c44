//! A C program that uses the header and the library.

use std::path::Path;
use std::process::Command;

#[test]
fn a_c_program_runs_three_nodes() {
    if let Err(error) = evenkeel_fabric::ucx::library() {
        println!("skipped: {error}");
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let libraries = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("three_nodes");
    let done = Command::new("cc")
        .args(["-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-I"])
        .arg(here.join("include"))
        .arg(here.join("tests/three_nodes.c"))
        .arg("-L")
        .arg(&libraries)
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .args(["-levenkeel_primitives_c", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let ran =
        Command::new("timeout").arg("300").arg(&program).env("UCX_LOG_LEVEL", "fatal").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "OK\n", "{}", String::from_utf8_lossy(&ran.stderr));
}
