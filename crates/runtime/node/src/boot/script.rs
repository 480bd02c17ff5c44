//! What the remote shell runs on a host.

use super::{ARCHITECTURE, COMMAND, EXIT_OTHER_BUILD, WANTED};

/// What runs on the host: finds this build of evenkeel, or asks for it, and starts it as a node. It gets the
/// program's path here as `$0`. One line, for shells that know no others within quotes.
///
/// A program is only run if it belongs to this user or to root: others may write to some paths.
pub(super) fn script(identity: &str, size: u64) -> String {
    let architecture = architecture();
    [
        "m=$(uname -m)".to_string(),
        format!("[ \"$m\" = {architecture} ] || {{ echo {ARCHITECTURE}$m; exit 94; }}"),
        format!("d=${{XDG_CACHE_HOME:-$HOME/.cache}}/evenkeel/{identity}"),
        "for f in \"$0\" \"$d/evenkeel\"".into(),
        "do if [ -x \"$f\" ] && { [ -O \"$f\" ] || [ \"$(stat -Lc %u \"$f\")\" = 0 ]; }".into(),
        // A copy that was cut short is not run: it would crash.
        format!("then if [ \"$f\" = \"$0\" ] || [ \"$(wc -c <\"$f\")\" -eq {size} ]"),
        format!("then \"$f\" {COMMAND} {identity} \"$1\" \"$2\""),
        // 2 says that an older program does not know the command, 126 and 127 that it cannot be run.
        format!("c=$?; case $c in {EXIT_OTHER_BUILD}|2|126|127) ;; *) exit $c ;; esac"),
        "fi; fi; done".into(),
        // The job gets back the mask that a login has here.
        "k=$(umask); umask 077; t=".into(),
        "mkdir -p \"$d\" 2>/dev/null && [ -O \"$d\" ] && [ -w \"$d\" ] || { \
         d=$(mktemp -d /dev/shm/evenkeel.XXXXXX 2>/dev/null || mktemp -d) || exit 95; t=1; }"
            .into(),
        "n=$d/new.$$".into(),
        format!("echo {WANTED}"),
        format!(
            "head -c {size} >\"$n\" && [ \"$(wc -c <\"$n\")\" -eq {size} ] && chmod 700 \"$n\" && \
             mv -f \"$n\" \"$d/evenkeel\" || {{ rm -f \"$n\"; exit 95; }}"
        ),
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
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    /// A folder that is removed with this value.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder = std::env::temp_dir().join(format!("evenkeel-{name}-{}", std::process::id()));
            std::fs::create_dir(&folder).unwrap();
            Folder(folder)
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
        let home = Folder::new("mask");
        let program = "#!/bin/sh\numask\n";
        assert!(run(&home.0, program).ends_with("EVENKEEL-WANTED\n0027\n"));
        assert_eq!(run(&home.0, program), "0027\n", "there is a copy");
    }
}
