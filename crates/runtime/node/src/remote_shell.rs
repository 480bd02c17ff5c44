//! How a process is started on another host.

use serde::{Deserialize, Serialize};

/// Stands for the host among the words of a remote shell.
const HOST: &str = "%h";
/// Stands for the host's name up to the first dot, as Slurm's nodes are called.
const NODE: &str = "%n";

/// A remote shell: a program that starts another one on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteShell(Vec<String>);

/// The name by which this host knows itself.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

impl RemoteShell {
    /// From what a user types: a program and its arguments, behind which the host comes, and then the words
    /// of a command, quoted for the shell on the host, as ssh wants them. Where the host stands as `%h` among
    /// the arguments, the command's words follow as they are, as `srun` wants them. None: it names no
    /// program, or a quote is not closed.
    pub fn parse(text: &str) -> Option<RemoteShell> {
        shell_words::split(text).ok().filter(|words| !words.is_empty()).map(RemoteShell)
    }

    /// The command line that runs `words` on a host. This host needs no shell.
    pub fn line(&self, host: &str, words: &[String]) -> Vec<String> {
        if host == host_name() {
            return words.to_vec();
        }
        if self.0.iter().any(|word| word.contains(HOST) || word.contains(NODE)) {
            let node = host.split('.').next().unwrap_or(host);
            let shell = self.0.iter().map(|word| word.replace(HOST, host).replace(NODE, node));
            return shell.chain(words.iter().cloned()).collect();
        }
        // A remote shell joins words with blanks, and the shell on the host splits them again.
        let words = words.iter().map(|word| shell_words::quote(word).into_owned());
        self.0.iter().cloned().chain([host.to_string()]).chain(words).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_remote_shell() {
        let words = ["/a b/evenkeel".to_string(), "model".into()];
        let line = |shell: &str, host: &str| RemoteShell::parse(shell).unwrap().line(host, &words);
        assert_eq!(line("ssh -q", "far.example"), ["ssh", "-q", "far.example", "'/a b/evenkeel'", "model"]);
        assert_eq!(line("ssh -q", &host_name()), ["/a b/evenkeel", "model"]);
        assert_eq!(line("srun -w %h", "far"), ["srun", "-w", "far", "/a b/evenkeel", "model"]);
        assert_eq!(line("srun -w %n", "far.example")[2], "far");
    }

    #[test]
    fn what_names_no_program_is_none() {
        assert_eq!((RemoteShell::parse(" "), RemoteShell::parse("ssh 'a")), (None, None));
    }
}
