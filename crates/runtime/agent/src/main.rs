//! The program `evenkeel-agent`, which a node's first rank starts.
//!
//! It inherits the node's segment, the pipe over which ranks speak to it, and a pipe over which it tells of
//! itself. It ends when the ranks of its node have ended.

use evenkeel_agent::error::AgentError;
use evenkeel_agent::process::agent::Agent;
use evenkeel_agent::process::command_pipe::CommandPipe;
use evenkeel_agent::process::daemon;
use evenkeel_agent::process::network::OpenedFabrics;
use evenkeel_engine::job::agent_commands::{AgentInfo, FabricAddresses};
use evenkeel_engine::job::agent_process::INHERITED;
use evenkeel_engine::job::process_info::boot_id;
use evenkeel_engine::spanning::agent_node::open_node;
use evenkeel_options as options;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::os::fd::{FromRawFd, RawFd};
use std::process::ExitCode;
use std::time::Duration;

/// How long a node may be silent at least, in milliseconds.
const MIN_PATIENCE_MS: u64 = 10;

fn main() -> ExitCode {
    daemon::keep_freed_memory();
    let [segment, commands, info] = INHERITED;
    if ![segment, commands, info].into_iter().all(is_open)
        || std::io::stdin().is_terminal() && std::env::args().len() > 1
    {
        eprintln!(
            "evenkeel-agent is started by the first rank of each node of a job that spans several; there is \
             nothing to do for it here. See `evenkeel run --help`."
        );
        return ExitCode::from(2);
    }
    daemon::daemonize(info);
    evenkeel_diagnostics::start("evenkeel-agent");
    // SAFETY: descriptors that were inherited for this, and that nothing else here uses.
    let (commands_file, info_file) = unsafe { (File::from_raw_fd(commands), File::from_raw_fd(info)) };
    match serve(commands, commands_file, info_file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("evenkeel: this node's agent cannot go on: {why}");
            ExitCode::from(1)
        }
    }
}

fn is_open(fd: RawFd) -> bool {
    // SAFETY: asks about a descriptor, which need not be open.
    unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 }
}

/// Tells of itself, waits until it is set up, and works until the ranks have ended. `pipe`: the number of the
/// descriptor that `commands` is.
fn serve(pipe: RawFd, commands: File, mut info: File) -> Result<(), AgentError> {
    let opened = OpenedFabrics::open()?;
    let bytes = postcard::to_allocvec(&info_of_this_agent(pipe, opened.addresses()));
    info.write_all(&bytes.expect("it is plain data")).map_err(AgentError::NoListener)?;
    drop(info);
    let mut commands = CommandPipe::new(commands);
    let Some(setup) = commands.wait_for_setup()? else {
        tracing::info!("the job does without agents");
        return Ok(());
    };
    tracing::info!(
        host = setup.nodes[setup.node as usize].host,
        node = setup.node,
        nodes = setup.nodes.len(),
        ranks_here = setup.here.len(),
        "this node's agent is set up"
    );
    commands.set_nonblocking();
    let network = opened.connect(&setup)?;
    let world = open_node(&setup)?;
    network.give_datagram_socket(world, setup.datagrams);
    let patience = Duration::from_millis(options::node_patience_ms().max(MIN_PATIENCE_MS));
    Agent::new(world, setup, network, commands, patience)?.run()
}

fn info_of_this_agent(pipe: RawFd, addresses: FabricAddresses) -> AgentInfo {
    let read = |path| std::fs::read(path).ok();
    let host = read("/proc/sys/kernel/hostname");
    AgentInfo {
        pid: std::process::id(),
        pipe,
        host: host.map_or("?".into(), |name| String::from_utf8_lossy(&name).trim().to_string()),
        boot: boot_id(),
        addresses,
    }
}
