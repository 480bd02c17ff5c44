//! The hosts on which a launcher starts ranks, from what it is given: its arguments, else the allocation of a
//! batch system. Where it tells none, it starts them on this host.

use std::process::{Command, Stdio};

/// Arguments of `mpirun`, `mpiexec` and `srun` that list hosts.
const LISTS: [&str; 5] = ["-host", "-hosts", "-H", "-w", "-nodelist"];
/// Arguments that name a file of hosts.
const FILES: [&str; 5] = ["-hostfile", "-machinefile", "-f", "-default-hostfile", "-nodefile"];
/// Variables that name such a file: of launchers, PBS, LSF and Grid Engine.
const FILE_VARIABLES: [&str; 6] = [
    "HYDRA_HOST_FILE",
    "OMPI_MCA_orte_default_hostfile",
    "PRTE_MCA_prte_default_hostfile",
    "PBS_NODEFILE",
    "LSB_DJOB_HOSTFILE",
    "PE_HOSTFILE",
];
/// Slurm's list of the hosts of an allocation.
const SLURM_LIST: &str = "SLURM_JOB_NODELIST";

/// The hosts of a launcher with these arguments, in this process's environment.
pub fn of_launcher(arguments: &[String]) -> Vec<String> {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    of_arguments(arguments, |name| std::env::var(name).ok(), read, expanded_by_slurm)
}

/// Names from a list with commas, without numbers of slots.
pub fn listed(list: &str) -> Vec<String> {
    let names = list.split(',').map(without_slots).filter(|name| !name.is_empty());
    let mut found = Vec::new();
    for name in names {
        if !found.iter().any(|known| known == name) {
            found.push(name.to_string());
        }
    }
    found
}

fn of_arguments(
    arguments: &[String],
    variable: impl Fn(&str) -> Option<String>,
    read: impl Fn(&str) -> String,
    expanded: impl Fn(&str) -> Vec<String>,
) -> Vec<String> {
    let list = |list: &str| if list.contains('[') { expanded(list) } else { listed(list) };
    let mut hosts: Vec<String> = values(arguments, &LISTS).flat_map(list).collect();
    hosts.extend(values(arguments, &FILES).flat_map(|file| in_file(&read(file))));
    // Open MPI's +n0 and +e:2 are hosts of the allocation, of which any may be meant.
    hosts.retain(|host| !host.starts_with('+'));
    if hosts.is_empty() {
        hosts = variable(SLURM_LIST).map(|text| expanded(&text)).unwrap_or_default();
    }
    if hosts.is_empty() {
        let files = FILE_VARIABLES.iter().filter_map(|name| variable(name));
        hosts = files.map(|file| in_file(&read(&file))).find(|hosts| !hosts.is_empty()).unwrap_or_default();
    }
    listed(&hosts.join(","))
}

/// The values of arguments with one of these names: `-name value`, `--name value` or `--name=value`.
fn values<'a>(arguments: &'a [String], names: &'a [&str]) -> impl Iterator<Item = &'a str> {
    arguments.iter().enumerate().filter_map(|(at, word)| {
        let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v)));
        let name = if name.starts_with("--") { &name[1..] } else { name };
        let following = || arguments.get(at + 1).map(String::as_str);
        if names.contains(&name) { value.or_else(following) } else { None }
    })
}

/// A host begins each line of such a file.
fn in_file(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    listed(&lines.filter_map(|line| line.split_whitespace().next()).collect::<Vec<_>>().join(","))
}

/// `node1:4` is `node1`; an address of IPv6 has more than one colon.
fn without_slots(name: &str) -> &str {
    match name.trim().split_once(':') {
        Some((host, slots)) if !slots.contains(':') => host,
        _ => name.trim(),
    }
}

/// The hosts of a list such as `node[1-4,7]`, which Slurm itself can read.
fn expanded_by_slurm(list: &str) -> Vec<String> {
    let mut scontrol = Command::new("scontrol");
    scontrol.args(["show", "hostnames", list]).stdin(Stdio::null()).stderr(Stdio::null());
    let text = scontrol.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.map(|text| in_file(&text)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(arguments: &str, set: &[(&str, &str)]) -> Vec<String> {
        let arguments: Vec<String> = arguments.split_whitespace().map(String::from).collect();
        let variable =
            |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string());
        let read = |file: &str| match file {
            "hosts" => "# ours\nnode1 slots=2\n\nnode2:4 # fast\nnode1\n".to_string(),
            _ => String::new(),
        };
        let expanded = |list: &str| listed(if list == "n[1-2]" { "n1,n2" } else { "" });
        of_arguments(&arguments, variable, read, expanded)
    }

    #[test]
    fn hosts_are_those_that_the_launcher_is_given() {
        for (arguments, found) in [
            ("--bind-to none --host a:2,b:2,a:1 -x K=V", vec!["a", "b"]),
            ("-H a", vec!["a"]),
            ("-hosts a,b", vec!["a", "b"]),
            ("-host a -host b", vec!["a", "b"]),
            ("--nodelist=n[1-2]", vec!["n1", "n2"]),
            ("--hostfile hosts", vec!["node1", "node2"]),
            ("-f hosts", vec!["node1", "node2"]),
            ("--hostfile=nothing", vec![]),
            ("--hostfile", vec![]),
            ("-H fe80::1", vec!["fe80::1"]),
            ("", vec![]),
        ] {
            assert_eq!(hosts(arguments, &[]), found, "{arguments}");
        }
    }

    #[test]
    fn without_such_arguments_they_are_those_of_the_allocation() {
        let slurm = (SLURM_LIST, "n[1-2]");
        assert_eq!(hosts("-N2", &[slurm]), ["n1", "n2"]);
        assert_eq!(hosts("-H c", &[slurm]), ["c"]);
        assert_eq!(hosts("--host +n0,+e:1", &[slurm]), ["n1", "n2"]);
        assert_eq!(hosts("--host +n0 --hostfile hosts", &[slurm]), ["node1", "node2"]);
        assert!(hosts("--host +n0", &[]).is_empty(), "it is this host");
        assert_eq!(hosts("", &[("PBS_NODEFILE", "hosts")]), ["node1", "node2"]);
        assert_eq!(hosts("", &[("PE_HOSTFILE", "nothing"), ("LSB_DJOB_HOSTFILE", "hosts")]).len(), 2);
    }
}
