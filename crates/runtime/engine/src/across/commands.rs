//! What a node's ranks and its agent tell each other beside the segment, over the agent's pipe.
//!
//! Frames of at most [`MOST_BYTES`] are written at once, so that frames of several ranks do not mix. A
//! byte 0 outside of a frame is a ring of the bell.

use serde::{Deserialize, Serialize};

/// What the agent tells the rank that has started it, which tells all ranks of the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    pub pid: u32,
    /// The descriptor, in the agent, of the end of the pipe that it reads.
    pub pipe: i32,
    pub host: String,
    /// The machine's boot, so that agents know whether they share its cores.
    pub boot: u64,
    /// The fabric's address.
    pub address: Vec<u8>,
}

/// Whether all nodes are virtual hosts of one machine.
pub fn share_cores(nodes: &[Offer]) -> bool {
    nodes.iter().all(|node| node.boot == nodes[0].boot)
}

/// What the agent needs to know of its node and job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The segment's.
    pub token: u64,
    /// The job's, the same on all nodes: whatever comes over the network without it is not ours.
    pub job: u64,
    pub ranks: u32,
    /// World rank and process of each rank here.
    pub here: Vec<(u32, u32)>,
    /// Which of the nodes this is.
    pub node: u32,
    pub nodes: Vec<Offer>,
}

/// A communicator across nodes, as its members here tell the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewComm {
    /// The job's name for it.
    pub id: u64,
    /// The segment's name for the part here.
    pub block: u64,
    /// World ranks of the members here.
    pub members: Vec<u32>,
    /// The job's number of each node that has members, and how many.
    pub nodes: Vec<(u32, u32)>,
    /// Which of them is this one.
    pub mine: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    Setup(Setup),
    Attach(NewComm),
    /// One of the members here has freed the communicator.
    Detach {
        id: u64,
    },
    /// One of them has revoked it.
    Revoke {
        id: u64,
    },
}

/// What the kernel writes to a pipe at once (`PIPE_BUF`).
pub const MOST_BYTES: usize = 4096;

/// A frame: 1, its length, the order.
pub fn frame(order: &Order) -> Vec<u8> {
    let body = postcard::to_allocvec(order).expect("nothing in it can fail");
    let mut frame = vec![1];
    frame.extend_from_slice(&(body.len() as u32).to_le_bytes());
    frame.extend_from_slice(&body);
    frame
}

/// Takes orders out of bytes as they come.
#[derive(Default)]
pub struct Reader {
    bytes: Vec<u8>,
}

impl Reader {
    pub fn take_in(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole order; an error says that what came is none.
    pub fn next(&mut self) -> Option<Result<Order, String>> {
        let rings = self.bytes.iter().take_while(|byte| **byte == 0).count();
        self.bytes.drain(..rings);
        if *self.bytes.first()? != 1 {
            return Some(Err(format!("a frame begins with 1, not {}", self.bytes[0])));
        }
        let length = u32::from_le_bytes(self.bytes.get(1..5)?.try_into().ok()?) as usize;
        let order = postcard::from_bytes(self.bytes.get(5..5 + length)?).map_err(|error| error.to_string());
        self.bytes.drain(..5 + length);
        Some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_come_out_between_rings() {
        let orders = [
            Order::Detach { id: 7 },
            Order::Attach(NewComm {
                id: 1,
                block: 2,
                members: vec![3],
                nodes: vec![(0, 1), (4, 2)],
                mine: 1,
            }),
        ];
        let bytes: Vec<u8> = orders.iter().flat_map(|order| [vec![0, 0], frame(order)].concat()).collect();
        for step in [1, 3, bytes.len()] {
            let (mut reader, mut out) = (Reader::default(), Vec::new());
            for piece in bytes.chunks(step) {
                reader.take_in(piece);
                out.extend(std::iter::from_fn(|| reader.next()).map(Result::unwrap));
            }
            assert_eq!(out, orders);
        }
        let mut reader = Reader::default();
        reader.take_in(&[9]);
        assert!(reader.next().unwrap().is_err());
    }
}
