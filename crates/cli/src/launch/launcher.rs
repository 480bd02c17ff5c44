//! The launcher that belongs to an MPI library, and its command line.

use crate::errors::LaunchError;
use crate::program::loader::Search;
use crate::program::mpi::{Library, Maker};
use crate::program::search_path::{file_name, find};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What `--launcher` takes to have evenkeel start the ranks itself.
pub const OWN: &str = "evenkeel";

/// What evenkeel needs to start programs of this library itself: for Open MPI a `libpmix`.
///
/// Ranks of MPICH and its relatives speak PMI-1, which evenkeel serves. Those of Open MPI speak PMIx only:
/// without it, each would take itself for the only rank.
pub fn check_own(
    library: &Library,
    search: &Search,
    launcher_arguments: &[String],
) -> Result<Option<PathBuf>, LaunchError> {
    match launcher_arguments.first() {
        Some(argument) => Err(LaunchError::OwnLauncherArguments { argument: argument.clone() }),
        None => own_pmix(library, search),
    }
}

/// The `libpmix` that serves ranks of this library; none for a library that needs none.
pub fn own_pmix(library: &Library, search: &Search) -> Result<Option<PathBuf>, LaunchError> {
    if library.maker == Maker::Mpich {
        return Ok(None);
    }
    const NAME: &str = "libpmix.so.2";
    // Beside the library first: server and ranks are then of one release.
    let real = library.path.canonicalize().unwrap_or_else(|_| library.path.clone());
    let beside = [real.as_path(), library.path.as_path()].into_iter().filter_map(Path::parent);
    let beside = beside.flat_map(|folder| [folder.join(NAME), folder.join("openmpi").join(NAME)]);
    let found = beside.chain(search.all_named(NAME)).find(|file| file.is_file());
    found.map(Some).ok_or_else(|| LaunchError::OwnLauncherCannot { library: library.path.clone() })
}

/// Which arguments a launcher takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LauncherStyle {
    /// `mpirun -n 4 -x NAME=value`
    OpenMpi,
    /// `mpiexec -n 4 -genv NAME value`
    Hydra,
    /// `srun -n 4 --export=ALL,NAME=value`
    Slurm,
}

/// A launcher on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Launcher {
    /// The program.
    pub path: PathBuf,
    /// Which arguments it takes.
    pub style: LauncherStyle,
}

/// What a launcher is to start.
#[derive(Clone, Debug, Default)]
pub struct LaunchRequest {
    /// Number of ranks.
    pub ranks: u32,
    /// Variables for the ranks.
    pub variables: Vec<(String, String)>,
    /// The user's own arguments for the launcher.
    pub extra: Vec<String>,
    /// The program.
    pub program: OsString,
    /// The program's arguments.
    pub arguments: Vec<OsString>,
    /// Whether evenkeel places the ranks on cores, so that the launcher must not.
    pub evenkeel_places: bool,
}

impl LauncherStyle {
    /// That of a maker's own launcher.
    pub fn of(maker: Maker) -> LauncherStyle {
        match maker {
            Maker::OpenMpi => LauncherStyle::OpenMpi,
            Maker::Mpich => LauncherStyle::Hydra,
        }
    }

    /// Names of such launchers, the most specific ones first.
    fn names(self) -> &'static [&'static str] {
        match self {
            LauncherStyle::OpenMpi => &["mpirun.openmpi", "orterun", "mpirun", "mpiexec", "prterun"],
            LauncherStyle::Hydra => &["mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun"],
            LauncherStyle::Slurm => &["srun"],
        }
    }

    /// The arguments that pass variables to the ranks.
    pub fn pass(self, variables: &[(String, String)]) -> Result<Vec<String>, LaunchError> {
        Ok(match self {
            LauncherStyle::OpenMpi => {
                variables.iter().flat_map(|(k, v)| ["-x".to_string(), format!("{k}={v}")]).collect()
            }
            LauncherStyle::Hydra => {
                variables.iter().flat_map(|(k, v)| ["-genv".to_string(), k.clone(), v.clone()]).collect()
            }
            LauncherStyle::Slurm => {
                if let Some((variable, value)) = variables.iter().find(|(_, v)| v.contains(',')) {
                    return Err(LaunchError::NotOneWord { variable: variable.clone(), value: value.clone() });
                }
                let list: Vec<String> = variables.iter().map(|(k, v)| format!("{k}={v}")).collect();
                vec![format!("--export=ALL,{}", list.join(","))]
            }
        })
    }
}

/// The launcher of a library: in `../bin` beside it or further up, as on Debian, else on PATH.
pub fn of_library(library: &Library, on_path: &[PathBuf]) -> Result<Launcher, LaunchError> {
    let style = LauncherStyle::of(library.maker);
    let real = library.path.canonicalize().unwrap_or_else(|_| library.path.clone());
    let mut searched: Vec<PathBuf> = Vec::new();
    // The real file first: /lib is a link to /usr/lib on most systems.
    for file in [real.as_path(), library.path.as_path()] {
        let directories = file.ancestors().skip(2).take(3).map(|up| up.join("bin"));
        searched.extend(directories.filter(|d| d.is_dir()));
    }
    searched.extend(on_path.iter().cloned());
    let mut seen = Vec::new();
    searched.retain(|d| {
        !seen.contains(d) && {
            seen.push(d.clone());
            true
        }
    });
    for directory in &searched {
        for name in style.names() {
            let path = directory.join(name);
            if path.is_file() && !is_of_another_maker(&path, style) && without_a_style(&path).is_none() {
                return Ok(Launcher { path, style });
            }
        }
    }
    let names = style.names().iter().map(|n| n.to_string()).collect();
    Err(LaunchError::NoLauncher { library: library.path.clone(), names, searched })
}

/// The launcher that the user names. Its name tells srun from the launchers of MPI libraries.
pub fn named(name: &str, maker: Maker, on_path: &[PathBuf]) -> Result<Launcher, LaunchError> {
    let path = find(name, on_path).map_err(|_| LaunchError::LauncherMissing {
        launcher: name.to_string(),
        searched: if name.contains('/') {
            Path::new(name).parent().map(Path::to_path_buf).into_iter().collect()
        } else {
            on_path.to_vec()
        },
    })?;
    let style = style_of(&path, maker)?;
    Ok(Launcher { path, style })
}

/// Which arguments a launcher takes, by its name and that of the file behind it, if that is there.
pub fn style_of(path: &Path, maker: Maker) -> Result<LauncherStyle, LaunchError> {
    if let Some(system) = without_a_style(path) {
        return Err(LaunchError::UnknownLauncher { launcher: path.to_path_buf(), system });
    }
    let real = file_name(&path.canonicalize().unwrap_or_else(|_| path.to_path_buf()));
    Ok(match () {
        () if file_name(path).starts_with("srun") => LauncherStyle::Slurm,
        () if real.contains("hydra") => LauncherStyle::Hydra,
        () if real.contains("orterun") || real.contains("prterun") => LauncherStyle::OpenMpi,
        () => LauncherStyle::of(maker),
    })
}

/// The system that a launcher belongs to, if its arguments are not known here.
fn without_a_style(path: &Path) -> Option<&'static str> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let is_of_pals = |path: &Path| path.components().any(|part| part.as_os_str() == "pals");
    match file_name(path).as_str() {
        "flux" => Some("Flux"),
        "jsrun" => Some("IBM's Job Step Manager"),
        "aprun" => Some("HPE's ALPS or PALS"),
        "mpirun_rsh" => Some("MVAPICH"),
        "mpiexec_mpt" => Some("HPE MPT"),
        _ if is_of_pals(path) || is_of_pals(&real) => Some("HPE's PALS"),
        _ => None,
    }
}

/// Whether a launcher belongs to another MPI. The file behind the links tells: `/usr/bin/mpirun` leads to the
/// launcher that the administrator has chosen.
fn is_of_another_maker(path: &Path, style: LauncherStyle) -> bool {
    let real = file_name(&path.canonicalize().unwrap_or_else(|_| path.to_path_buf()));
    let open = ["orterun", "prte", "openmpi", "ompi"].iter().any(|n| real.contains(n));
    let hydra = ["hydra", "mpich"].iter().any(|n| real.contains(n));
    match style {
        LauncherStyle::OpenMpi => hydra,
        LauncherStyle::Hydra => open,
        LauncherStyle::Slurm => false,
    }
}

/// What Open MPI's launcher must be told about cores. It refuses more ranks than there are physical cores,
/// and binds ranks to cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// There are more ranks than physical cores.
    pub shares_cores: bool,
    /// evenkeel places the ranks, so that the launcher must not.
    pub is_evenkeels: bool,
}

impl Placement {
    /// That of so many ranks on this machine.
    pub fn of(ranks: u32, is_evenkeels: bool, physical_cores: usize) -> Placement {
        Placement { shares_cores: ranks as usize > physical_cores, is_evenkeels }
    }

    /// The arguments that say so.
    pub fn arguments(self) -> Vec<&'static str> {
        let shares = self.shares_cores.then_some(["--oversubscribe"]);
        let unbound = self.is_evenkeels.then_some(["--bind-to", "none"]);
        shares.into_iter().flatten().chain(unbound.into_iter().flatten()).collect()
    }

    /// Variables for the launcher that say the same: for Open MPI 4, and for the launcher of Open MPI 5.
    pub fn variables(self) -> Vec<(String, String)> {
        let shares = [
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
            ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
        ];
        let unbound = [
            ("OMPI_MCA_hwloc_base_binding_policy", "none"),
            ("PRTE_MCA_hwloc_default_binding_policy", "none"),
        ];
        let shares = self.shares_cores.then_some(shares).into_iter().flatten();
        let all = shares.chain(self.is_evenkeels.then_some(unbound).into_iter().flatten());
        all.map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }
}

/// The whole command line. `physical_cores`: how many of them this process may use.
pub fn command(
    launcher: &Launcher,
    request: &LaunchRequest,
    physical_cores: usize,
) -> Result<Vec<OsString>, LaunchError> {
    let mut line = vec![launcher.path.clone().into_os_string()];
    if launcher.style == LauncherStyle::OpenMpi {
        let user_gives = |names: &[&str]| {
            request.extra.iter().any(|a| names.iter().any(|n| a.trim_start_matches('-').starts_with(n)))
        };
        let mut placement = Placement::of(request.ranks, request.evenkeel_places, physical_cores);
        placement.shares_cores &=
            !user_gives(&["oversubscribe", "nooversubscribe", "host", "hostfile", "machinefile", "map-by"]);
        placement.is_evenkeels &=
            !user_gives(&["bind-to", "cpu-set", "cpu-list", "rankfile", "rf", "report-bindings", "map-by"]);
        line.extend(placement.arguments().into_iter().map(OsString::from));
    }
    line.extend(launcher.style.pass(&request.variables)?.into_iter().map(OsString::from));
    line.extend(request.extra.iter().map(OsString::from));
    line.extend(["-n".into(), request.ranks.to_string().into(), request.program.clone()]);
    line.extend(request.arguments.iter().cloned());
    Ok(line)
}

/// Variables for the launcher itself.
///
/// Open MPI's launchers refuse to run for root unless two variables allow it. MPICH's launcher gives each
/// rank a session of its own. Where the kernel schedules by session, a rank that yields would keep the core
/// within its session, so `one_session` is preloaded into the launcher.
pub fn own_variables(
    style: LauncherStyle,
    is_root: bool,
    one_session: Option<&Path>,
    preloaded: &str,
) -> Vec<(String, String)> {
    let names = [
        "OMPI_ALLOW_RUN_AS_ROOT",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
        "PRTE_ALLOW_RUN_AS_ROOT",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM",
    ];
    match (style, one_session) {
        (LauncherStyle::OpenMpi, _) if is_root => {
            names.map(|name| (name.to_string(), "1".to_string())).to_vec()
        }
        (LauncherStyle::Hydra, Some(library)) => {
            let before = if preloaded.is_empty() { String::new() } else { format!("{preloaded}:") };
            vec![("LD_PRELOAD".to_string(), format!("{before}{}", library.display()))]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::mpi::Abi;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn pmix_is_taken_from_beside_the_library_else_from_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let [own, system] = ["own", "system"].map(|name| folder.path().join(name));
        let library = |maker| Library {
            abi: Abi::OpenMpi4,
            maker,
            path: own.join("libmpi.so.40"),
            soname: "libmpi.so.40".into(),
        };
        let search = Search { defaults: vec![system.clone()], ..Search::default() };
        let found = || own_pmix(&library(Maker::OpenMpi), &search);
        assert_eq!(own_pmix(&library(Maker::Mpich), &search).unwrap(), None);
        let said = found().unwrap_err().to_string();
        assert!(said.contains("PMIx") && said.contains("apt install libpmix2"), "{said}");
        for place in [system.clone(), own.join("openmpi")] {
            std::fs::create_dir_all(&place).unwrap();
            let file = place.join("libpmix.so.2");
            std::fs::write(&file, "").unwrap();
            assert_eq!(found().unwrap(), Some(file));
        }
    }

    #[test]
    fn launchers_whose_arguments_are_not_known_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (name, system) in
            [("flux", Some("Flux")), ("jsrun", Some("IBM")), ("aprun", Some("PALS")), ("srun", None)]
                .into_iter()
                .chain([("pals/1.2/bin/mpiexec", Some("PALS")), ("mpiexec.hydra", None)])
                .chain([("mpirun_rsh", Some("MVAPICH")), ("mpiexec_mpt", Some("MPT"))])
        {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
            let found = named(path.to_str().unwrap(), Maker::Mpich, &[]).map_err(|e| e.to_string());
            match system {
                None => assert!(found.is_ok(), "{name}: {found:?}"),
                Some(system) => {
                    let said = found.unwrap_err();
                    assert!(said.contains(system) && said.contains("LD_PRELOAD"), "{said}");
                }
            }
        }
    }
}
