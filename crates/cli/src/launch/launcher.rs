//! The launcher that belongs to an MPI library, and the command line it is given.

use crate::errors::Failure;
use crate::program::mpi::{Library, Maker, file_name};
use std::path::{Path, PathBuf};

/// How a launcher takes its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `mpirun -n 4 -x NAME=value`
    OpenMpi,
    /// `mpiexec -n 4 -genv NAME value`
    Hydra,
    /// `srun -n 4 --export=ALL,NAME=value`
    Slurm,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Launcher {
    pub path: PathBuf,
    pub style: Style,
}

/// What is to be started.
#[derive(Clone, Debug, Default)]
pub struct Job {
    pub ranks: u32,
    /// Variables for the ranks.
    pub variables: Vec<(String, String)>,
    /// The user's own arguments for the launcher.
    pub extra: Vec<String>,
    pub program: String,
    pub arguments: Vec<String>,
    /// Whether evenkeel places the ranks, so that the launcher must not.
    pub place: bool,
}

impl Style {
    pub fn of(maker: Maker) -> Style {
        match maker {
            Maker::OpenMpi => Style::OpenMpi,
            Maker::Mpich => Style::Hydra,
        }
    }

    fn names(self) -> &'static [&'static str] {
        match self {
            Style::OpenMpi => &["mpirun.openmpi", "orterun", "mpirun", "mpiexec", "prterun"],
            Style::Hydra => &["mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun"],
            Style::Slurm => &["srun"],
        }
    }

    /// The arguments that hand variables to the ranks.
    pub fn pass(self, variables: &[(String, String)]) -> Result<Vec<String>, Failure> {
        Ok(match self {
            Style::OpenMpi => {
                variables.iter().flat_map(|(k, v)| ["-x".to_string(), format!("{k}={v}")]).collect()
            }
            Style::Hydra => {
                variables.iter().flat_map(|(k, v)| ["-genv".to_string(), k.clone(), v.clone()]).collect()
            }
            Style::Slurm => {
                if let Some((variable, value)) = variables.iter().find(|(_, v)| v.contains(',')) {
                    return Err(Failure::NotOneWord { variable: variable.clone(), value: value.clone() });
                }
                let list: Vec<String> = variables.iter().map(|(k, v)| format!("{k}={v}")).collect();
                vec![format!("--export=ALL,{}", list.join(","))]
            }
        })
    }
}

/// The launcher of a library: beside it (`../bin` and further up, as Debian has it), else along PATH.
pub fn of_library(library: &Library, on_path: &[PathBuf]) -> Result<Launcher, Failure> {
    let style = Style::of(library.maker);
    let real = library.path.canonicalize().unwrap_or_else(|_| library.path.clone());
    let mut looked: Vec<PathBuf> = Vec::new();
    // The real file first: /lib is a link to /usr/lib on most systems.
    for file in [real.as_path(), library.path.as_path()] {
        let directories = file.ancestors().skip(2).take(3).map(|up| up.join("bin"));
        looked.extend(directories.filter(|d| d.is_dir()));
    }
    looked.extend(on_path.iter().cloned());
    let mut seen = Vec::new();
    looked.retain(|d| {
        !seen.contains(d) && {
            seen.push(d.clone());
            true
        }
    });
    for directory in &looked {
        for name in style.names() {
            let path = directory.join(name);
            if path.is_file() && !is_of_another_maker(&path, style) {
                return Ok(Launcher { path, style });
            }
        }
    }
    let names = style.names().iter().map(|n| n.to_string()).collect();
    Err(Failure::NoLauncher { library: library.path.clone(), names, looked })
}

/// The launcher that the user names; its name tells srun from the launchers of MPI libraries.
pub fn named(name: &str, maker: Maker, on_path: &[PathBuf]) -> Result<Launcher, Failure> {
    let path = crate::program::examination::find(name, on_path).map_err(|_| Failure::LauncherMissing {
        launcher: name.to_string(),
        looked: if name.contains('/') {
            Path::new(name).parent().map(Path::to_path_buf).into_iter().collect()
        } else {
            on_path.to_vec()
        },
    })?;
    let real = file_name(&path.canonicalize().unwrap_or_else(|_| path.clone()));
    let style = match () {
        () if file_name(&path).starts_with("srun") => Style::Slurm,
        () if real.contains("hydra") => Style::Hydra,
        () if real.contains("orterun") || real.contains("prterun") => Style::OpenMpi,
        () => Style::of(maker),
    };
    Ok(Launcher { path, style })
}

/// `/usr/bin/mpirun` belongs to whoever the system's administrator gave it to; the file behind the
/// links tells.
fn is_of_another_maker(path: &Path, style: Style) -> bool {
    let real = file_name(&path.canonicalize().unwrap_or_else(|_| path.to_path_buf()));
    let open = ["orterun", "prte", "openmpi", "ompi"].iter().any(|n| real.contains(n));
    let hydra = ["hydra", "mpich"].iter().any(|n| real.contains(n));
    match style {
        Style::OpenMpi => hydra,
        Style::Hydra => open,
        Style::Slurm => false,
    }
}

/// The whole command line. `physical_cores`: those that this process may use.
pub fn command(launcher: &Launcher, job: &Job, physical_cores: usize) -> Result<Vec<String>, Failure> {
    let mut line = vec![launcher.path.display().to_string()];
    if launcher.style == Style::OpenMpi {
        let user_says = |names: &[&str]| {
            job.extra.iter().any(|a| names.iter().any(|n| a.trim_start_matches('-').starts_with(n)))
        };
        if job.ranks as usize > physical_cores
            && !user_says(&["oversubscribe", "nooversubscribe", "host", "hostfile", "machinefile", "map-by"])
        {
            line.push("--oversubscribe".into());
        }
        if job.place
            && !user_says(&["bind-to", "cpu-set", "cpu-list", "rankfile", "rf", "report-bindings", "map-by"])
        {
            line.extend(["--bind-to".into(), "none".into()]);
        }
    }
    line.extend(launcher.style.pass(&job.variables)?);
    line.extend(job.extra.iter().cloned());
    line.extend(["-n".into(), job.ranks.to_string(), job.program.clone()]);
    line.extend(job.arguments.iter().cloned());
    Ok(line)
}

/// Variables for the launcher itself.
///
/// Open MPI's launchers refuse to run for root unless told twice. MPICH's gives each rank a session of
/// its own; where the kernel schedules by session, yielding would then hand the core to nobody, so
/// `one_session` is preloaded into it.
pub fn own_variables(
    style: Style,
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
        (Style::OpenMpi, _) if is_root => names.map(|name| (name.to_string(), "1".to_string())).to_vec(),
        (Style::Hydra, Some(library)) => {
            let before = if preloaded.is_empty() { String::new() } else { format!("{preloaded}:") };
            vec![("LD_PRELOAD".to_string(), format!("{before}{}", library.display()))]
        }
        _ => Vec::new(),
    }
}
