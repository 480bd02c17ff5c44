//! The remote shell that leads to the other machines of a job.

use crate::errors::JobError;
use crate::jobs::discovery::Job;
use crate::jobs::process;
use evenkeel_node::RemoteShell;
use evenkeel_options::REMOTE_SHELL;

/// By which launchers are told which remote shell to use.
const OF_LAUNCHERS: [&str; 5] = [
    "OMPI_MCA_plm_rsh_agent",
    "PRTE_MCA_plm_ssh_agent",
    "PRTE_MCA_plm_rsh_agent",
    "HYDRA_LAUNCHER_EXEC",
    "I_MPI_HYDRA_BOOTSTRAP_EXEC",
];

/// Set in an allocation of Slurm's.
const SLURM_JOB: &str = "SLURM_JOB_ID";

/// ssh, as it never asks anything and soon gives up.
const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=5";

/// Where other machines are, and how they are reached.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// Hosts that the user names; none: those of the job.
    pub hosts: Vec<String>,
    /// The remote shell that the user names.
    pub shell: Option<String>,
}

impl Ways {
    /// The remote shell for a job: what the user names, by option or variable; else what the launcher of the
    /// job was told to use; in an allocation of Slurm's srun; else ssh.
    pub fn shell(&self, job: Option<&Job>) -> Result<RemoteShell, JobError> {
        // Root runs nothing that another user's job names.
        let environment = |pid: u32| {
            let variables = process::environment(pid);
            is_own(pid).then_some(variables) // also afterwards: it may have begun another program
        };
        let own = job.and_then(Job::lowest).filter(|pid| is_own(*pid));
        let variables = own.and_then(environment).unwrap_or_default();
        let of_job =
            |name: &str| variables.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        self.shell_from(|name| std::env::var(name).ok().or_else(|| of_job(name)))
    }

    /// What the user names.
    fn named(&self) -> Option<String> {
        self.shell.clone().or_else(|| Some(REMOTE_SHELL.get()).filter(|shell| !shell.is_empty()))
    }

    /// Whether other machines may be asked that a job itself names.
    pub(super) fn follows(&self, job: &Job) -> bool {
        self.named().is_some() || job.lowest().is_some_and(is_own)
    }

    fn shell_from(&self, variable: impl Fn(&str) -> Option<String>) -> Result<RemoteShell, JobError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let slurm = set(SLURM_JOB);
        let named = self.named().or_else(|| set(REMOTE_SHELL.env));
        let of_launcher =
            || OF_LAUNCHERS.into_iter().find_map(set).map(|text| of_launcher(&text, slurm.as_deref()));
        let text =
            named.or_else(of_launcher).or_else(|| slurm.as_deref().map(srun)).unwrap_or_else(|| SSH.into());
        RemoteShell::parse(&text).ok_or(JobError::RemoteShell { given: text })
    }
}

fn is_own(pid: u32) -> bool {
    let me = rustix::process::geteuid().as_raw();
    process::users(pid).is_some_and(|users| users.iter().all(|user| *user == me))
}

/// What a launcher was told: a list of alternatives, of which the first is taken that is there. ssh must not
/// ask anything.
fn of_launcher(text: &str, slurm: Option<&str>) -> String {
    let alternatives: Vec<&str> = text.split(':').map(str::trim).filter(|it| !it.is_empty()).collect();
    let is_there = |it: &&&str| is_program(it.split(' ').next().unwrap_or(it));
    let first = alternatives.iter().find(is_there).or(alternatives.first()).copied().unwrap_or(text);
    let program = first.split(' ').next().unwrap_or(first);
    match (program.rsplit('/').next().unwrap_or(program), slurm) {
        ("srun", Some(job)) => srun(job),
        ("ssh", _) => format!("{first} {}", SSH.trim_start_matches("ssh ")),
        _ => first.into(),
    }
}

/// Whether there is such a program, by its path or on PATH.
fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// A step beside those of the job, which take all that the allocation has.
fn srun(job: &str) -> String {
    format!("srun --jobid={job} --overlap --quiet --nodes=1 --ntasks=1 --nodelist=%n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_choice_comes_first_then_the_launchers_then_slurms() {
        let line = |shell: Option<&str>, set: &[(&str, &str)]| {
            let ways = Ways { hosts: Vec::new(), shell: shell.map(String::from) };
            let value =
                |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string());
            ways.shell_from(value).map(|shell| shell.line("far", &["x".to_string()]).join(" "))
        };
        let all = [(REMOTE_SHELL.env, "own"), ("HYDRA_LAUNCHER_EXEC", "rsh -q"), (SLURM_JOB, "7")];
        assert_eq!(line(Some("named"), &all).unwrap(), "named far x");
        assert_eq!(line(None, &all).unwrap(), "own far x");
        assert_eq!(line(None, &all[1..]).unwrap(), "rsh -q far x");
        let slurm = line(None, &all[2..]).unwrap();
        assert!(
            slurm.starts_with("srun --jobid=7 --overlap") && slurm.ends_with("--nodelist=far x"),
            "{slurm}"
        );
        let agent = |text| line(None, &[("OMPI_MCA_plm_rsh_agent", text), (SLURM_JOB, "7")]).unwrap();
        assert_eq!(agent("/bin/sh -v : ssh"), "/bin/sh -v far x");
        assert_eq!(agent("/no/such/shell:/bin/sh"), "/bin/sh far x");
        assert_eq!(agent("/no/ssh -p 2"), "/no/ssh -p 2 -o BatchMode=yes -o ConnectTimeout=5 far x");
        assert!(agent("/usr/bin/srun").contains("--overlap"));
        assert!(line(None, &[(REMOTE_SHELL.env, "")]).unwrap().starts_with("ssh -o BatchMode=yes"));
        assert!(line(Some("'"), &[]).unwrap_err().to_string().contains("--remote-shell"));
    }
}
