//! A network that ibsim plays, and OpenSM's sweeps over it.

use super::credit_loops::{self, CreditLoops};
use super::programs::{KilledOnDrop, OpenSm};
use crate::errors::OpenSmError;
use crate::machine::processor_time;
use evenkeel_route::format::{ibnetdiscover, lfts};
use evenkeel_route::{Network, Table, schemes};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// OpenSM on a network that ibsim plays answers within seconds, or not at all.
pub const SWEEP_LIMIT: Duration = Duration::from_secs(120);
/// The most addresses of an InfiniBand subnet.
const MOST_LIDS: &str = "49152";

/// What a sweep is to do.
#[derive(Clone, Copy, Debug)]
pub struct SweepRequest<'a> {
    /// OpenSM's routing engine.
    pub engine: &'a str,
    /// The file of tables, for the engine `file`.
    pub tables: Option<&'a Path>,
    /// Whether ibdmchk checks the tables too.
    pub with_ibdmchk: bool,
}

/// What OpenSM did.
#[derive(Debug)]
pub struct Sweep {
    /// The tables that it set.
    pub table: Table,
    /// Seconds from the start of OpenSM to its end: reading the network, computing, setting the tables.
    pub seconds: f64,
    /// Processor time that OpenSM took for it, in seconds.
    pub processor_seconds: f64,
    /// The engine that it said it used at last. If an engine gives up, OpenSM uses another one.
    pub engine_used: Option<String>,
    /// What ibdmchk finds in the tables; None if it was not asked for or is not installed.
    pub ibdmchk: Option<CreditLoops>,
}

impl Sweep {
    /// How many entries OpenSM set otherwise than in `table`.
    pub fn entries_that_differ_from(&self, network: &Network, table: &Table) -> usize {
        let differs = |switch: &_, to| self.table.port(*switch, to) != table.port(*switch, to);
        let at = |to| network.switch_ids().filter(|switch| differs(switch, to)).count();
        table.destinations().map(at).sum()
    }
}

/// A network that ibsim plays for as long as this lives. Its switches keep their tables between sweeps.
pub struct SimulatedSubnet<'a> {
    opensm: &'a OpenSm,
    network: &'a Network,
    /// Processes that meet under one name would take each other's packets.
    socket: String,
    directory: &'a Path,
    limit: Duration,
    _simulator: KilledOnDrop,
}

impl OpenSm {
    /// One sweep over a network. All files go into `directory`, which must exist.
    pub fn simulate_and_sweep(
        &self,
        network: &Network,
        request: SweepRequest,
        directory: &Path,
        limit: Duration,
    ) -> Result<Sweep, OpenSmError> {
        self.simulate(network, directory, limit)?.sweep(request)
    }

    /// Starts ibsim on a network. Its files, and those of all sweeps, go into `directory`, which must exist.
    /// `limit` is for each thing that is done.
    pub fn simulate<'a>(
        &'a self,
        network: &'a Network,
        directory: &'a Path,
        limit: Duration,
    ) -> Result<SimulatedSubnet<'a>, OpenSmError> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let failed = |what: &str, e: std::io::Error| OpenSmError::Ibsim(format!("{what}: {e}"));
        let topology = directory.join("network.topo");
        fs::write(&topology, ibnetdiscover::write(network))
            .map_err(|e| failed("its network cannot be written", e))?;
        let socket = format!("evenkeel-{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let begun = Instant::now();
        let simulator = self
            .start_ibsim(network, &topology, &socket, directory)
            .map_err(|e| failed("it does not start", e))?;
        let simulator = KilledOnDrop(simulator);
        // Its output goes into a file and comes late. Its socket is there once it has read the network.
        let control_socket = format!("@{socket}:ctl");
        while !fs::read_to_string("/proc/net/unix").unwrap_or_default().contains(&control_socket) {
            if begun.elapsed() > limit {
                return Err(OpenSmError::Ibsim(format!("it was not ready within {} s", limit.as_secs())));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(SimulatedSubnet { opensm: self, network, socket, directory, limit, _simulator: simulator })
    }

    fn start_ibsim(
        &self,
        network: &Network,
        topology: &Path,
        socket: &str,
        directory: &Path,
    ) -> std::io::Result<Child> {
        let switches = network.switches().len() + 1;
        let nodes = switches + network.end_nodes().len();
        let ports_of_switches: usize =
            network.switches().iter().map(|switch| usize::from(switch.ports) + 1).sum();
        let ports = ports_of_switches + 8 * network.end_nodes().len();
        Command::new(&self.ibsim)
            .args(["-s", "-n", "-S", &switches.to_string(), "-N", &nodes.to_string()])
            .args(["-P", &ports.to_string(), "-L", MOST_LIDS])
            .arg(topology)
            .env("IBSIM_SOCKNAME", socket)
            .stdin(Stdio::null())
            .stdout(File::create(directory.join("ibsim.log"))?)
            .stderr(File::create(directory.join("ibsim.err"))?)
            .spawn()
    }
}

impl SimulatedSubnet<'_> {
    /// One sweep.
    pub fn sweep(&self, request: SweepRequest) -> Result<Sweep, OpenSmError> {
        let failed = |why: String| OpenSmError::Engine { engine: request.engine.into(), why };
        let io = |what: &str, e: std::io::Error| failed(format!("{what}: {e}"));
        // ibsim has not ended yet, so that its processor time is not counted.
        let (begun, processor_before) = (Instant::now(), processor_time::of_ended_children());
        let status = self.run_opensm(request)?;
        let seconds = begun.elapsed().as_secs_f64();
        let processor_seconds = processor_time::of_ended_children() - processor_before;
        if !status.success() {
            return Err(failed(format!("opensm ended with {status}; its log says why")));
        }
        let dump = fs::read_to_string(self.directory.join("opensm-lfts.dump"))
            .map_err(|e| io("it dumped no tables", e))?;
        let (table, _) =
            lfts::read(self.network, &dump).map_err(|e| failed(format!("its tables cannot be read: {e}")))?;
        let ibdmchk = self.opensm.ibdmchk.as_ref().filter(|_| request.with_ibdmchk);
        let ibdmchk = ibdmchk.map(|ibdmchk| credit_loops::check(ibdmchk, self.directory, self.limit));
        let ibdmchk = ibdmchk.transpose().map_err(|e| io("ibdmchk fails", e))?;
        let log = fs::read_to_string(self.directory.join("opensm.log")).unwrap_or_default();
        Ok(Sweep { table, seconds, processor_seconds, ibdmchk, engine_used: engine_used(&log) })
    }

    /// Runs OpenSM to its end, or until the limit.
    fn run_opensm(&self, request: SweepRequest) -> Result<ExitStatus, OpenSmError> {
        let failed = |why: String| OpenSmError::Engine { engine: request.engine.into(), why };
        let begun = Instant::now();
        let process =
            self.start_opensm(request).map_err(|e| failed(format!("opensm does not start: {e}")))?;
        let mut opensm = KilledOnDrop(process);
        loop {
            match opensm.0.try_wait().map_err(|e| failed(format!("opensm is lost: {e}")))? {
                Some(status) => return Ok(status),
                None if begun.elapsed() > self.limit => {
                    return Err(failed(format!("it was not done within {} s", self.limit.as_secs())));
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    fn start_opensm(&self, request: SweepRequest) -> std::io::Result<Child> {
        let directory = self.directory;
        let mut command = Command::new(&self.opensm.opensm);
        command.args(["-o", "-R", request.engine, "-D", "0x43", "-f"]).arg(directory.join("opensm.log"));
        if ["updn", "dnup"].contains(&request.engine) {
            // Without roots it falls back to minimal hops and does not say so.
            let roots = directory.join("roots");
            let root = self.network.switch(schemes::best_root(self.network)).guid;
            writeln!(File::create(&roots)?, "0x{root:016x}")?;
            command.arg("-a").arg(roots);
        }
        if let Some(tables) = request.tables {
            command.arg("-U").arg(tables);
        }
        let host = self.network.end_nodes().first().map_or(String::new(), |e| format!("H-{:016x}", e.guid));
        // The preloaded library keeps a directory of its own where it is started.
        command
            .current_dir(directory)
            .env("SIM_HOST", host)
            .env("IBSIM_SOCKNAME", &self.socket)
            .env("LD_PRELOAD", &self.opensm.umad)
            .env("OSM_TMP_DIR", directory)
            .env("OSM_CACHE_DIR", directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    }
}

/// The last engine that the log names: `ucast_mgr_route: "nue" …` or
/// `… tables configured on all switches`.
fn engine_used(log: &str) -> Option<String> {
    let line = log.lines().rev().find(|line| line.contains("tables configured on all switches"))?;
    let before = line.split(" tables configured").next()?;
    before.split_whitespace().last().map(|word| word.trim_matches('"').to_lowercase())
}
