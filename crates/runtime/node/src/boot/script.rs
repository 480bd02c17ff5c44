//! What the remote shell runs on a host.

/// The hidden command of this program that is run there.
const COMMAND: &str = "host-node";
/// Its exit code when it is another build.
pub(crate) const EXIT_OTHER_BUILD: u8 = 93;
/// What the script says.
pub(super) const ARCHITECTURE: &str = "EVENKEEL-ARCHITECTURE ";
pub(super) const WANTED: &str = "EVENKEEL-WANTED";

/// A shell function: whether no other user can have made the file of an absolute path (`$1`), or replace it.
/// From the file up to `/` all must belong to this user or root, and be writable by no other user; in
/// a folder such as `/tmp`, which is root's and has the sticky bit, others cannot touch what is not theirs. A
/// link must be safe, and what it leads to. `$2` counts links, which may go in a circle.
///
/// Each call is a shell of its own, and so has its own variables. Modes are compared as text: not all shells
/// take a number that begins with 0 for an octal one.
const SAFE: &str = "safe() ( p=$1; case $p in /*) ;; *) exit 1 ;; esac; \
    while :; do \
    s=$(stat -c \"%u %a\" \"${p:-/}\" 2>/dev/null) || exit 1; o=${s% *}; m=${s#* }; \
    [ \"$o\" = 0 ] || [ \"$o\" = \"$u\" ] || exit 1; \
    if [ -L \"$p\" ]; then [ \"$2\" -lt 40 ] && t=$(readlink \"$p\") || exit 1; \
    case $t in /*) ;; *) t=${p%/*}/$t ;; esac; safe \"$t\" $(($2 + 1)) || exit 1; \
    else case $m in *[2367]?|*[2367]) case $m in [1357]???) ;; *) exit 1 ;; esac; \
    [ -d \"${p:-/}\" ] && [ \"$o\" = 0 ] || exit 1 ;; esac; fi; \
    [ -n \"$p\" ] || exit 0; p=${p%/*}; done )";

/// What runs on the host: finds this build of evenkeel, or asks for it, and starts it as a node. It gets the
/// program's path here as `$0`. One line, for shells that know no others within quotes.
///
/// Before each word there is an empty line: what a login script has printed may lack the end of its line.
///
/// A program is only run if others could not have put it there: see [`SAFE`].
pub(super) fn script(identity: &str, size: u64) -> String {
    let architecture = architecture();
    [
        "m=$(uname -m)".to_string(),
        format!("[ \"$m\" = {architecture} ] || {{ echo; echo {ARCHITECTURE}$m; exit 94; }}"),
        format!("d=${{XDG_CACHE_HOME:-$HOME/.cache}}/evenkeel/{identity}"),
        "u=$(id -u)".into(),
        SAFE.into(),
        "for f in \"$0\" \"$d/evenkeel\"".into(),
        "do if [ -f \"$f\" ] && [ -x \"$f\" ] && safe \"$f\" 0".into(),
        // A copy that was cut short is not run: it would crash.
        format!("then if [ \"$f\" = \"$0\" ] || [ \"$(wc -c <\"$f\")\" -eq {size} ]"),
        format!("then \"$f\" {COMMAND} {identity} \"$1\" \"$2\""),
        // 2 says that an older program does not know the command, 126 and 127 that it cannot be run.
        format!("c=$?; case $c in {EXIT_OTHER_BUILD}|2|126|127) ;; *) exit $c ;; esac"),
        "fi; fi; done".into(),
        // The job gets back the mask that a login has here.
        "k=$(umask); umask 077; t=".into(),
        "mkdir -p \"$d\" 2>/dev/null && safe \"$d\" 0 && [ -w \"$d\" ] || { \
         d=$(mktemp -d /dev/shm/evenkeel.XXXXXX 2>/dev/null || mktemp -d) || exit 95; t=1; }"
            .into(),
        "fail() { [ -z \"$t\" ] || rm -rf \"$d\"; exit 95; }".into(),
        "safe \"$d\" 0 || { echo \"evenkeel: other users can write to $d, or to a folder above it. Make \
         these writable for their owner only, or set TMPDIR to another folder.\" >&2; fail; }"
            .into(),
        "n=$(mktemp \"$d/new.XXXXXX\") || fail".into(),
        format!("echo; echo {WANTED}"),
        format!(
            "head -c {size} >\"$n\" && [ \"$(wc -c <\"$n\")\" -eq {size} ] && chmod 700 \"$n\" || \
             {{ rm -f \"$n\"; fail; }}"
        ),
        // Hosts may share the folder: what another one has put there, and runs, stays unless it is damaged.
        "p=$d/evenkeel".into(),
        "ln \"$n\" \"$p\" 2>/dev/null || { [ -x \"$p\" ] && cmp -s \"$n\" \"$p\"; } || \
         mv -f \"$n\" \"$p\""
            .into(),
        "rm -f \"$n\"".into(),
        "safe \"$d/evenkeel\" 0 || fail".into(),
        format!("umask \"$k\"; \"$d/evenkeel\" {COMMAND} {identity} \"$1\" \"$2\""),
        "c=$?; [ -z \"$t\" ] || rm -rf \"$d\"; exit $c".into(),
    ]
    .join("; ")
}

/// The kind of this machine, as `uname -m` prints it.
pub(super) fn architecture() -> String {
    rustix::system::uname().machine().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    /// A user that does not run this test.
    const FOREIGNER: u32 = 12345;

    /// A folder that is removed with this value.
    struct Folder(PathBuf);

    impl Folder {
        /// None, and a reason: others can write to the folder of temporary files, or above it.
        fn new(name: &str) -> Option<Folder> {
            let path = std::env::temp_dir().join(format!("evenkeel-{name}-{}", std::process::id()));
            std::fs::create_dir(&path).unwrap();
            let folder = Folder(path);
            set_mode(&folder.0, 0o755);
            let usable = is_safe(&folder.0);
            if !usable {
                eprintln!("skipped: others can write to {}, or above it", folder.0.display());
            }
            usable.then_some(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// Runs the script in a login with this home and the mask 027, and sends it a program. What it prints.
    fn run(home: &Path, program: &str) -> String {
        let script = script("0123", program.len() as u64);
        let mut shell = Command::new("/bin/sh")
            .args([
                "-c",
                "umask 027; exec /bin/sh -c \"$@\"",
                "sh",
                &script,
                "/nowhere/evenkeel",
                "auto",
                "0-0",
            ])
            .env("HOME", home)
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // It is not read if there is a copy.
        let _ = shell.stdin.take().unwrap().write_all(program.as_bytes());
        String::from_utf8(shell.wait_with_output().unwrap().stdout).unwrap()
    }

    #[test]
    fn the_script_is_one_line_that_a_shell_understands() {
        let script = script("0123", 10);
        assert!(!script.contains('\n') && !script.contains('\'') && !script.contains('!'), "{script}");
        let checked = Command::new("sh").args(["-n", "-c", &script]).output().unwrap();
        assert!(checked.status.success(), "{}\n{script}", String::from_utf8_lossy(&checked.stderr));
    }

    #[test]
    fn a_program_that_was_sent_has_the_mask_of_the_login() {
        let Some(home) = Folder::new("mask") else { return };
        let program = "#!/bin/sh\numask\n";
        assert!(run(&home.0, program).ends_with("EVENKEEL-WANTED\n0027\n"));
        assert_eq!(run(&home.0, program), "0027\n", "there is a copy");
    }
    #[test]
    fn the_script_ends_the_line_that_a_login_script_has_begun() {
        let Some(home) = Folder::new("line") else { return };
        assert!(run(&home.0, "#!/bin/sh\n").starts_with("\nEVENKEEL-WANTED\n"));
    }

    /// What [`SAFE`] says of a path.
    fn is_safe(path: &Path) -> bool {
        let line = format!("u=$(id -u); {SAFE}; safe \"$0\" 0");
        Command::new("/bin/sh").args(["-c", &line]).arg(path).status().unwrap().success()
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_path_that_others_can_write_to_is_not_safe() {
        let Some(folder) = Folder::new("safe") else { return };
        let (upper, lower) = (folder.0.join("upper"), folder.0.join("upper/lower"));
        let file = lower.join("file");
        std::fs::create_dir_all(&lower).unwrap();
        std::fs::write(&file, "").unwrap();
        for path in [&upper, &lower, &file] {
            set_mode(path, 0o755);
        }
        assert!(is_safe(&file));
        assert!(!is_safe(&lower.join("missing")) && !is_safe(Path::new("file")));
        for path in [&file, &lower, &upper] {
            for mode in [0o775, 0o757, 0o777, 0o2775, 0o4722] {
                set_mode(path, mode);
                assert!(!is_safe(&file), "{} with {mode:o}", path.display());
            }
            for mode in [0o700, 0o755, 0o2755, 0o1755] {
                set_mode(path, mode);
                assert!(is_safe(&file), "{} with {mode:o}", path.display());
            }
        }
        if !rustix::process::geteuid().is_root() {
            return eprintln!("skipped: only root can give files to another user");
        }
        set_mode(&upper, 0o1777);
        assert!(is_safe(&file), "root's, and sticky");
        for path in [&file, &lower, &upper] {
            chown(path, Some(FOREIGNER), None).unwrap();
            assert!(!is_safe(&file), "{} belongs to somebody else", path.display());
            chown(path, Some(0), None).unwrap();
        }
        assert!(is_safe(&file));
        set_mode(&file, 0o1777);
        assert!(!is_safe(&file), "for a file the sticky bit says nothing");
    }

    #[test]
    fn a_link_is_as_safe_as_it_is_and_as_what_it_leads_to() {
        let Some(folder) = Folder::new("links") else { return };
        let (here, there) = (folder.0.join("here"), folder.0.join("there"));
        for path in [&here, &there] {
            std::fs::create_dir(path).unwrap();
            set_mode(path, 0o755);
        }
        std::fs::write(there.join("file"), "").unwrap();
        set_mode(&there.join("file"), 0o755);
        let (to_file, to_folder) = (here.join("file"), here.join("folder"));
        symlink("../there/file", &to_file).unwrap();
        symlink(&there, &to_folder).unwrap();
        let ways = [&to_file, &to_folder.join("file"), &to_folder.join("../there/file")];
        assert!(ways.iter().all(|way| is_safe(way)));
        set_mode(&there, 0o777);
        assert!(!ways.iter().any(|way| is_safe(way)), "what links lead to");
        set_mode(&there, 0o755);
        symlink("circle", here.join("circle")).unwrap();
        assert!(!is_safe(&here.join("circle")));
        if !rustix::process::geteuid().is_root() {
            return eprintln!("skipped: only root can give links to another user");
        }
        for link in [&to_file, &to_folder] {
            lchown(link, Some(FOREIGNER), None).unwrap();
        }
        assert!(!ways.iter().any(|way| is_safe(way)), "the links of somebody else");
    }

    #[test]
    fn a_program_that_others_could_have_planted_is_not_run() {
        let Some(home) = Folder::new("planted") else { return };
        let program = "#!/bin/sh\necho sent\n";
        assert!(run(&home.0, program).ends_with("sent\n"));
        let cache = home.0.join(".cache/evenkeel/0123");
        std::fs::write(cache.join("evenkeel"), "#!/bin/sh\necho evil\n").unwrap();
        assert_eq!(run(&home.0, program), "evil\n", "a copy of the same size is run");
        set_mode(&cache, 0o777);
        assert!(run(&home.0, program).ends_with("EVENKEEL-WANTED\nsent\n"));
        assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 1, "the folder is not used");
    }
    #[test]
    fn a_copy_that_others_may_run_is_replaced_only_if_it_is_damaged() {
        use std::os::unix::fs::MetadataExt;
        let Some(home) = Folder::new("shared") else { return };
        // Each host that finds the copy not to run sends another one.
        let program = "#!/bin/sh\n[ -f ~/again ] && echo sent && exit; echo >~/again; exit 93\n";
        let copy = home.0.join(".cache/evenkeel/0123/evenkeel");
        run(&home.0, program);
        let first = std::fs::metadata(&copy).unwrap().ino();
        std::fs::remove_file(home.0.join("again")).unwrap();
        assert!(run(&home.0, program).ends_with("EVENKEEL-WANTED\nsent\n"));
        assert_eq!(std::fs::metadata(&copy).unwrap().ino(), first, "it is the same program");
        for damaged in ["#!/bin/sh\n".into(), "0".repeat(program.len())] {
            std::fs::write(&copy, damaged).unwrap();
            assert!(run(&home.0, program).ends_with("EVENKEEL-WANTED\nsent\n"));
            assert_eq!(std::fs::read_to_string(&copy).unwrap(), program);
        }
        assert_eq!(std::fs::read_dir(copy.parent().unwrap()).unwrap().count(), 1, "no other file stays");
    }
}
