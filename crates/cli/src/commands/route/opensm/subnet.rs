//! OpenSM on a simulated network: ibsim plays the switches, and nothing needs hardware or privileges.

use crate::commands::route::command::refuse;
use crate::errors::Failure;
use crate::machine::processor_time;
use evenkeel_route::Network;
use evenkeel_route::Table;
use evenkeel_route::format::{ibnetdiscover, lfts};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Where Debian puts the library that hands OpenSM's packets to ibsim.
const SIMULATED_UMAD: &str = "umad2sim/libumad2sim.so";

/// The programs that are needed.
#[derive(Clone, Debug)]
pub struct OpenSm {
    opensm: PathBuf,
    ibsim: PathBuf,
    umad: PathBuf,
    /// The other judge, from the Debian package ibutils.
    ibdmchk: Option<PathBuf>,
}

/// What OpenSM did.
#[derive(Debug)]
pub struct Sweep {
    pub table: Table,
    /// What it took from the start of OpenSM to its end: reading the network, computing, setting the tables.
    pub seconds: f64,
    /// Processor time that OpenSM took for it, in seconds.
    pub processor_seconds: f64,
    /// The engine that it said it used at last; another than was asked for if that one gave up.
    pub used: Option<String>,
    /// What ibdmchk, which shares nothing with this program, says of the tables; nothing if it is not
    /// installed.
    pub ibdmchk: Option<SecondJudge>,
}

/// What ibdmchk finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondJudge {
    /// All paths are right, and there are no credit loops.
    Free,
    /// There are credit loops.
    Loops,
    /// Paths are missing or wrong; it does not look for credit loops then.
    Incomplete,
}

/// A network that ibsim plays for as long as this lives. Its switches keep their tables between sweeps.
pub struct Simulated<'a> {
    opensm: &'a OpenSm,
    network: &'a Network,
    /// Processes that meet under one name would take each other's packets.
    socket: String,
    directory: &'a Path,
    limit: Duration,
    _simulator: Guarded,
}

impl OpenSm {
    /// Finds the programs, or says what is missing.
    pub fn find() -> Result<OpenSm, String> {
        let places = std::env::var_os("PATH").unwrap_or_default();
        let find = |name: &str| {
            let mut places: Vec<PathBuf> = std::env::split_paths(&places).collect();
            places.push("/usr/sbin".into());
            places
                .into_iter()
                .map(|p| p.join(name))
                .find(|p| p.is_file())
                .ok_or_else(|| format!("there is no `{name}`"))
        };
        let directories = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|d| d.path());
        let umad =
            directories.chain(["/usr/lib".into()]).map(|d| d.join(SIMULATED_UMAD)).find(|p| p.is_file());
        Ok(OpenSm {
            opensm: find("opensm")?,
            ibsim: find("ibsim")?,
            umad: umad.ok_or("there is no libumad2sim.so")?,
            ibdmchk: find("ibdmchk").ok(),
        })
    }

    /// One sweep over a network with a routing engine; `tables` is the file for the engine `file`. If
    /// `judged`, ibdmchk looks at the tables too. Its own files go into `directory`, which has to be there.
    pub fn sweep(
        &self,
        network: &Network,
        engine: &str,
        tables: Option<&Path>,
        judged: bool,
        directory: &Path,
        limit: Duration,
    ) -> Result<Sweep, Failure> {
        self.simulate(network, directory, limit)?.sweep(engine, tables, judged)
    }

    /// Starts ibsim on a network. Its files, and those of all sweeps, go into `directory`, which has to be
    /// there. `limit` is for each thing that is done.
    pub fn simulate<'a>(
        &'a self,
        network: &'a Network,
        directory: &'a Path,
        limit: Duration,
    ) -> Result<Simulated<'a>, Failure> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let io = |what: &str, e: std::io::Error| refuse(format!("ibsim: {what}: {e}"));
        let topology = directory.join("network.topo");
        fs::write(&topology, ibnetdiscover::write(network))
            .map_err(|e| io("its network cannot be written", e))?;
        let socket = format!("evenkeel-{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let begun = Instant::now();
        let simulator = Guarded(
            self.simulator(network, &topology, &socket, directory).map_err(|e| io("it does not start", e))?,
        );
        // Its own words come late, as they go into a file; its socket is there once it has read the network.
        while !fs::read_to_string("/proc/net/unix").unwrap_or_default().contains(&format!("@{socket}:ctl")) {
            if begun.elapsed() > limit {
                return Err(refuse(format!("ibsim was not ready within {} s", limit.as_secs())));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(Simulated { opensm: self, network, socket, directory, limit, _simulator: simulator })
    }

    fn simulator(
        &self,
        network: &Network,
        topology: &Path,
        socket: &str,
        directory: &Path,
    ) -> std::io::Result<Child> {
        let (switches, nodes) =
            (network.switches().len() + 1, network.switches().len() + network.end_nodes().len() + 1);
        let ports: usize = network.switches().iter().map(|s| usize::from(s.ports) + 1).sum::<usize>()
            + 8 * network.end_nodes().len();
        Command::new(&self.ibsim)
            .args([
                "-s",
                "-n",
                "-S",
                &switches.to_string(),
                "-N",
                &nodes.to_string(),
                "-P",
                &ports.to_string(),
                "-L",
                "49152",
            ])
            .arg(topology)
            .env("IBSIM_SOCKNAME", socket)
            .stdin(Stdio::null())
            .stdout(fs::File::create(directory.join("ibsim.log"))?)
            .stderr(fs::File::create(directory.join("ibsim.err"))?)
            .spawn()
    }

    fn opensm(
        &self,
        network: &Network,
        engine: &str,
        tables: Option<&Path>,
        socket: &str,
        directory: &Path,
    ) -> std::io::Result<Child> {
        let mut command = Command::new(&self.opensm);
        command.args(["-o", "-R", engine, "-D", "0x43", "-f"]).arg(directory.join("opensm.log"));
        if engine == "updn" || engine == "dnup" {
            // Without roots it falls back to minimal hops and says nothing.
            let roots = directory.join("roots");
            let root = network.switch(evenkeel_route::schemes::best_root(network)).guid;
            writeln!(fs::File::create(&roots)?, "0x{root:016x}")?;
            command.arg("-a").arg(roots);
        }
        if let Some(tables) = tables {
            command.arg("-U").arg(tables);
        }
        // The library keeps a directory of its own where it is started.
        command.current_dir(directory);
        let host = network.end_nodes().first().map_or(String::new(), |e| format!("H-{:016x}", e.guid));
        command
            .env("SIM_HOST", host)
            .env("IBSIM_SOCKNAME", socket)
            .env("LD_PRELOAD", &self.umad)
            .env("OSM_TMP_DIR", directory)
            .env("OSM_CACHE_DIR", directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    }
}

impl Simulated<'_> {
    /// One sweep with a routing engine; `tables` is the file for the engine `file`. If `judged`, ibdmchk
    /// looks at the tables too.
    pub fn sweep(&self, engine: &str, tables: Option<&Path>, judged: bool) -> Result<Sweep, Failure> {
        let failed = |why: String| refuse(format!("OpenSM's engine `{engine}`: {why}"));
        let io = |what: &str, e: std::io::Error| failed(format!("{what}: {e}"));
        let (begun, before) = (Instant::now(), processor_time::of_ended_children());
        let mut opensm = Guarded(
            self.opensm
                .opensm(self.network, engine, tables, &self.socket, self.directory)
                .map_err(|e| io("opensm does not start", e))?,
        );
        let status = loop {
            match opensm.0.try_wait().map_err(|e| io("opensm is lost", e))? {
                Some(status) => break status,
                None if begun.elapsed() > self.limit => {
                    return Err(failed(format!("it was not done within {} s", self.limit.as_secs())));
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        // Of the processes that this one has waited for, which ibsim is not yet among.
        let (seconds, processor_seconds) =
            (begun.elapsed().as_secs_f64(), processor_time::of_ended_children() - before);
        if !status.success() {
            return Err(failed(format!("opensm ended with {status}; its words are in its log")));
        }
        let dump = fs::read_to_string(self.directory.join("opensm-lfts.dump"))
            .map_err(|e| io("it dumped no tables", e))?;
        let (table, _) =
            lfts::read(self.network, &dump).map_err(|e| failed(format!("its tables cannot be read: {e}")))?;
        let ibdmchk = match &self.opensm.ibdmchk {
            Some(ibdmchk) if judged => {
                Some(second_judge(ibdmchk, self.directory, self.limit).map_err(|e| io("ibdmchk fails", e))?)
            }
            _ => None,
        };
        Ok(Sweep {
            table,
            seconds,
            processor_seconds,
            ibdmchk,
            used: engine_used(&fs::read_to_string(self.directory.join("opensm.log")).unwrap_or_default()),
        })
    }
}

/// What ibdmchk says of what OpenSM has dumped.
fn second_judge(ibdmchk: &Path, directory: &Path, limit: Duration) -> std::io::Result<SecondJudge> {
    let log = directory.join("ibdmchk.log");
    let mut command = Command::new(ibdmchk);
    command
        .args(["-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs"])
        .current_dir(directory)
        .stdin(Stdio::null());
    let mut judge = Guarded(command.stdout(fs::File::create(&log)?).stderr(Stdio::null()).spawn()?);
    let begun = Instant::now();
    while judge.0.try_wait()?.is_none() {
        if begun.elapsed() > limit {
            return Err(std::io::Error::other(format!("it was not done within {} s", limit.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let said = fs::read_to_string(&log)?;
    Ok(
        match (
            said.contains("Analyzing Fabric for Credit Loops"),
            said.contains("no credit loops found") && !said.contains("-E-"),
        ) {
            (false, _) => SecondJudge::Incomplete,
            (true, false) => SecondJudge::Loops,
            (true, true) => SecondJudge::Free,
        },
    )
}

/// The last engine that the log names: `ucast_mgr_route: "nue" …` or `… tables configured on all switches`.
fn engine_used(log: &str) -> Option<String> {
    let line = log.lines().rev().find(|l| l.contains("tables configured on all switches"))?;
    let before = line.split(" tables configured").next()?;
    before.split_whitespace().last().map(|word| word.trim_matches('"').to_lowercase())
}

/// A process that does not outlive its owner.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
