//! Spares Open MPI the search for networks that this machine does not have.
//!
//! In `MPI_Init`, Open MPI opens UCX and libfabric to ask for fast networks and accelerators: 1.2 of the 1.4
//! s in which Open MPI 5 starts two ranks. On one host without such devices it then chooses `ob1` over
//! shared memory. Where that answer is certain beforehand, evenkeel gives it.

use super::launcher::LauncherStyle;
use std::path::{Path, PathBuf};

/// Directories that have an entry, and files that exist, where Open MPI could choose otherwise: InfiniBand,
/// RoCE, EFA and Omni-Path adapters, Slingshot, accelerators of NVIDIA and AMD.
const DEVICES: [&str; 6] = [
    "/sys/class/infiniband",
    "/sys/class/cxi",
    "/sys/class/hfi1",
    "/dev/nvidiactl",
    "/dev/nvidia-caps",
    "/dev/kfd",
];

/// Variables whose presence means that a scheduler has given this job hosts.
const ALLOCATIONS: [&str; 6] =
    ["SLURM_JOB_ID", "SLURM_JOBID", "PBS_NODEFILE", "LSB_JOBID", "PE_HOSTFILE", "FLUX_URI"];

/// Parameters that choose what carries messages; a user who sets one of them decides for themselves.
const CHOOSING: [&str; 5] = ["pml", "btl", "mtl", "osc", "mca_base"];

/// Arguments of the launcher that name hosts, parameters, or files with either.
const ARGUMENTS: [&str; 11] =
    ["host", "H", "machinefile", "default-hostfile", "rankfile", "rf", "app", "mca", "gmca", "omca", "tune"];

/// What Open MPI is not to try: what searches for networks.
const EXCLUDED: &str = "^ofi,uct,openib";

/// What a machine and its user have said about networks.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Whether there is a device with which Open MPI could choose another transport.
    pub has_devices: bool,
    /// Names of the variables of this process.
    pub variables: Vec<String>,
    /// The texts of Open MPI's files of parameters.
    pub parameters: Vec<String>,
    /// The texts of its files of hosts.
    pub hosts: Vec<String>,
}

impl Surroundings {
    /// Those of this machine, for an MPI library in `library`.
    pub fn of_this_machine(library: &Path) -> Surroundings {
        let has_entry = |path: &Path| path.read_dir().map_or(path.exists(), |mut d| d.next().is_some());
        let name = |(name, _): (std::ffi::OsString, _)| name.to_string_lossy().into_owned();
        let read =
            |files: Vec<PathBuf>| files.iter().filter_map(|f| std::fs::read_to_string(f).ok()).collect();
        Surroundings {
            has_devices: DEVICES.iter().any(|path| has_entry(Path::new(path))),
            variables: std::env::vars_os().map(name).collect(),
            parameters: read(files(library, &["openmpi-mca-params.conf", "mca-params.conf"])),
            hosts: read(files(library, &["openmpi-default-hostfile", "prte-default-hostfile"])),
        }
    }

    /// Whether nothing but shared memory can come of Open MPI's search.
    fn is_certain(&self, launcher_arguments: &[String]) -> bool {
        let names_others = |argument: &String| {
            let name = argument.trim_start_matches('-');
            argument.starts_with('-') && ARGUMENTS.iter().any(|start| name.starts_with(start))
        };
        let chooses = |variable: &String| {
            let parameter =
                ["OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_"].iter().find_map(|p| variable.strip_prefix(p));
            let is_chosen =
                |name: &str| name.contains("host") || CHOOSING.iter().any(|start| name.starts_with(start));
            ALLOCATIONS.contains(&variable.as_str()) || parameter.is_some_and(is_chosen)
        };
        let lines = |texts: &[String]| {
            let lines = texts.iter().flat_map(|text| text.lines()).map(|line| line.trim().to_string());
            lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect::<Vec<_>>()
        };
        !self.has_devices
            && !launcher_arguments.iter().any(names_others)
            && !self.variables.iter().any(chooses)
            && !lines(&self.parameters).iter().any(|line| chooses_in_file(line))
            && lines(&self.hosts).is_empty()
    }

    /// Variables for the launcher: what Open MPI would choose anyway. None if that is not certain.
    pub fn presets(&self, style: LauncherStyle, launcher_arguments: &[String]) -> Vec<(String, String)> {
        if style != LauncherStyle::OpenMpi || !self.is_certain(launcher_arguments) {
            return Vec::new();
        }
        // TCP stays among the transports: processes that the program spawns may need it.
        [("OMPI_MCA_pml", "ob1"), ("OMPI_MCA_btl", EXCLUDED)]
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .to_vec()
    }
}

/// Whether a line `name = value` of a file of parameters chooses what carries messages. Debian's file only
/// excludes what is excluded here, too, or what is not chosen.
fn chooses_in_file(line: &str) -> bool {
    let (name, value) = line.split_once('=').unwrap_or((line, ""));
    let excluded = |value: &str| value.trim().strip_prefix('^').map(str::to_string);
    let is_excluded_here = |component: &str| EXCLUDED[1..].split(',').any(|other| other == component.trim());
    match (name.trim(), excluded(value)) {
        ("btl_base_warn_component_unused", _) | ("mtl" | "osc", Some(_)) => false,
        ("btl", Some(list)) => !list.split(',').all(is_excluded_here),
        ("pml", Some(list)) => list.split(',').any(|component| component.trim() == "ob1"),
        (name, _) => CHOOSING.iter().any(|start| name.starts_with(start)),
    }
}

/// Where an Open MPI whose library this is keeps files of these names.
fn files(library: &Path, names: &[&str]) -> Vec<PathBuf> {
    let real = library.canonicalize().unwrap_or_else(|_| library.to_path_buf());
    let above: Vec<PathBuf> = real.ancestors().skip(2).take(3).map(Path::to_path_buf).collect();
    let home = std::env::var_os("HOME").map(PathBuf::from).into_iter();
    let places = above
        .iter()
        .flat_map(|up| [up.join("etc"), up.join("etc/openmpi")])
        .chain(["/etc".into(), "/etc/openmpi".into()])
        .chain(home.flat_map(|home| [home.join(".openmpi"), home.join(".prte")]));
    places.flat_map(|place| names.iter().map(move |name| place.join(name)).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presets(surroundings: &Surroundings, arguments: &[&str]) -> usize {
        let arguments: Vec<String> = arguments.iter().map(|a| a.to_string()).collect();
        surroundings.presets(LauncherStyle::OpenMpi, &arguments).len()
    }

    #[test]
    fn a_lone_machine_needs_no_search() {
        let lone = Surroundings {
            variables: vec!["HOME".into(), "OMPI_MCA_rmaps_base_oversubscribe".into()],
            parameters: vec!["# pml = ucx\n\norte_x = 1\n".into()],
            hosts: vec!["# none\n".into()],
            ..Surroundings::default()
        };
        assert_eq!(presets(&lone, &["--bind-to", "core"]), 2);
        assert!(lone.presets(LauncherStyle::Hydra, &[]).is_empty());
        assert!(lone.presets(LauncherStyle::Slurm, &[]).is_empty());
    }

    #[test]
    fn what_debian_excludes_is_no_choice() {
        let debian = "btl_base_warn_component_unused=0\nmtl = ^ofi\nbtl = ^uct,openib,ofi\npml = ^ucx\n\
                      osc = ^ucx,pt2pt\n";
        let with = |text: &str| Surroundings { parameters: vec![text.into()], ..Surroundings::default() };
        assert_eq!(presets(&with(debian), &[]), 2);
        for choice in ["pml = ^ob1", "pml = ucx", "btl = ^tcp,ofi", "mtl = psm2", "btl_tcp_if_include=lo"] {
            assert_eq!(presets(&with(choice), &[]), 0, "{choice}");
        }
    }

    #[test]
    fn a_choice_of_the_user_stays() {
        let lone = Surroundings::default();
        let with = |variable: &str| Surroundings { variables: vec![variable.into()], ..lone.clone() };
        for variable in ["OMPI_MCA_pml", "OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_mca_base_param_files"]
            .into_iter()
            .chain(["SLURM_JOB_ID", "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile"])
        {
            assert_eq!(presets(&with(variable), &[]), 0, "{variable}");
        }
        for arguments in
            [["--host", "a"], ["-H", "a"], ["--hostfile", "f"], ["--mca", "pml"], ["--tune", "f"]]
        {
            assert_eq!(presets(&lone, &arguments), 0, "{arguments:?}");
        }
        let parameters = Surroundings { parameters: vec!["  btl = self\n".into()], ..lone.clone() };
        let hosts = Surroundings { hosts: vec!["node1 slots=4\n".into()], ..lone.clone() };
        let devices = Surroundings { has_devices: true, ..lone };
        for other in [parameters, hosts, devices] {
            assert_eq!(presets(&other, &[]), 0, "{other:?}");
        }
    }
}
