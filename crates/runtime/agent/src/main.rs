//! The program `evenkeel-agent`: started by a node's first rank, never by hand.
//!
//! It inherits the node's segment, the pipe by which ranks speak to it, and a pipe for its offer. It
//! goes on in a process of its own, so that the rank has no child that its program does not know of,
//! and heeds no signal that a terminal or launcher sends to all: it ends when the ranks have.

use evenkeel_agent::process::agent::Agent;
use evenkeel_engine::across::agent_member::world_of_agent;
use evenkeel_engine::across::commands::{Offer, Order, Reader, Setup};
use evenkeel_engine::across::nodes::INHERITED;
use evenkeel_fabric::{NodeId, ucx};
use evenkeel_options as options;
use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::os::fd::FromRawFd;
use std::process::ExitCode;
use std::time::Duration;

/// What other nodes may write into of this one: nothing but a few words that nobody uses.
const SHOWN_BYTES: usize = 4096;
/// Connections that UCX is told to expect.
const NODES: usize = 8;

/// Memory that has been freed and is kept for the next messages. Given back to the kernel after every
/// large one, as the C library does by itself, it would come back page by page, which takes longer than
/// the copying.
const KEPT_BYTES: i32 = 8 << 20;

fn main() -> ExitCode {
    keep_freed_memory();
    let [segment, orders, offer] = INHERITED;
    // SAFETY: asks about descriptors, which may not be there.
    let inherited = unsafe { [segment, orders, offer].iter().all(|fd| libc::fcntl(*fd, libc::F_GETFD) >= 0) };
    if !inherited || std::io::stdin().is_terminal() && std::env::args().len() > 1 {
        eprintln!(
            "evenkeel-agent is started by the first rank of each node of a job that spans several; there is nothing to do for it here. See `evenkeel run --help`."
        );
        return ExitCode::from(2);
    }
    leave_the_family(offer);
    // SAFETY: inherited for this, and nobody else's.
    let (orders_file, offer_file) = unsafe { (File::from_raw_fd(orders), File::from_raw_fd(offer)) };
    match serve(orders, orders_file, offer_file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("evenkeel: this node's agent cannot go on: {why}");
            ExitCode::from(1)
        }
    }
}

fn keep_freed_memory() {
    // SAFETY: settings of the allocator, before anybody else runs. Where there are none, it stays as it is.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT_BYTES);
    }
}

/// Goes on in a child of a process that has ended, without what else the rank had open.
fn leave_the_family(last: i32) {
    // SAFETY: one thread so far; the parent leaves at once, without running anything that the child might
    // run too.
    unsafe {
        if libc::fork() > 0 {
            libc::_exit(0);
        }
        libc::syscall(libc::SYS_close_range, last as u32 + 1, u32::MAX, 0);
        for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGTERM, libc::SIGPIPE, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_IGN);
        }
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        libc::dup2(nothing, 0);
        libc::dup2(nothing, 1);
        if nothing > 2 {
            libc::close(nothing);
        }
    }
}

fn serve(pipe: i32, mut orders: File, mut offer: File) -> Result<(), String> {
    let opened = ucx::open(NODES, SHOWN_BYTES, &ucx::EAGER).map_err(|error| error.to_string())?;
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "?".into(), |name| name.trim().to_string());
    let boot = std::fs::read("/proc/sys/kernel/random/boot_id")
        .map_or(0, |id| evenkeel_engine::job::bootstrap::hash(&id));
    let mine = Offer { pid: std::process::id(), pipe, host, boot, address: opened.address().to_vec() };
    let bytes = postcard::to_allocvec(&mine).expect("nothing in it can fail");
    offer
        .write_all(&bytes)
        .map_err(|error| format!("the rank that has started it does not listen: {error}"))?;
    drop(offer);
    let mut reader = Reader::default();
    // the job does without agents
    let Some(setup) = first_order(&mut orders, &mut reader)? else { return Ok(()) };
    let addresses: Vec<Vec<u8>> = setup.nodes.iter().map(|node| node.address.clone()).collect();
    let wire = opened.connect(NodeId(setup.node), &addresses).map_err(|error| error.to_string())?;
    let world = world_of_agent(&setup)?;
    // SAFETY: a descriptor of ours.
    unsafe { libc::fcntl(pipe, libc::F_SETFL, libc::O_NONBLOCK) };
    let patience = options::NODE_PATIENCE_MS.get().parse::<u64>().unwrap_or(2000).max(10);
    Agent::new(world, setup, wire, orders, reader, Duration::from_millis(patience)).run()
}

/// Waits for the job's nodes; None: the ranks are gone before.
fn first_order(orders: &mut File, reader: &mut Reader) -> Result<Option<Setup>, String> {
    let mut bytes = [0; 4096];
    loop {
        match reader.next() {
            Some(Ok(Order::Setup(setup))) => return Ok(Some(setup)),
            Some(Ok(_)) => return Err("its first order is not to set itself up".into()),
            Some(Err(why)) => return Err(why),
            None => match orders.read(&mut bytes) {
                Ok(0) => return Ok(None),
                Ok(n) => reader.take_in(&bytes[..n]),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.to_string()),
            },
        }
    }
}
