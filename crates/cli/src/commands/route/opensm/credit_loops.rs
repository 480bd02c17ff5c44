//! What ibdmchk, an independent checker, finds in tables.

use super::programs::KilledOnDrop;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What ibdmchk finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditLoops {
    /// All paths are right, and there are no credit loops.
    Free,
    /// There are credit loops.
    Found,
    /// Paths are missing or wrong; ibdmchk does not search for credit loops then.
    Unknown,
}

/// Has ibdmchk check what OpenSM has dumped into `directory`.
pub fn check(ibdmchk: &Path, directory: &Path, limit: Duration) -> std::io::Result<CreditLoops> {
    let log = directory.join("ibdmchk.log");
    let mut command = Command::new(ibdmchk);
    command
        .args(["-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs"])
        .current_dir(directory)
        .stdin(Stdio::null());
    let mut process = KilledOnDrop(command.stdout(File::create(&log)?).stderr(Stdio::null()).spawn()?);
    let begun = Instant::now();
    while process.0.try_wait()?.is_none() {
        if begun.elapsed() > limit {
            return Err(std::io::Error::other(format!("it was not done within {} s", limit.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = fs::read_to_string(&log)?;
    let has_searched = text.contains("Analyzing Fabric for Credit Loops");
    let is_free = text.contains("no credit loops found") && !text.contains("-E-");
    Ok(match (has_searched, is_free) {
        (false, _) => CreditLoops::Unknown,
        (true, false) => CreditLoops::Found,
        (true, true) => CreditLoops::Free,
    })
}
