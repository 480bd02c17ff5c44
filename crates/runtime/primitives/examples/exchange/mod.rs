//! Exchange of the nodes' addresses as files in a folder that all nodes see, for programs without a
//! launcher that does it.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(300);

/// Publishes this node's address and waits for those of the others.
pub fn exchange(folder: &Path, node: u32, nodes: u32, mine: &[u8]) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let name = |node: u32| folder.join(format!("{node}.address"));
    let unfinished = folder.join(format!("{node}.unfinished"));
    std::fs::write(&unfinished, mine)?;
    std::fs::rename(unfinished, name(node))?;
    let end = Instant::now() + PATIENCE;
    let mut addresses = Vec::new();
    for node in 0..nodes {
        while !name(node).exists() {
            if Instant::now() > end {
                return Err(format!("node {node} did not publish its address").into());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        addresses.push(std::fs::read(name(node))?);
    }
    Ok(addresses)
}
