//! How switches and channels behave.

use serde::Serialize;
use thiserror::Error;

/// When the head of a packet may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switching {
    /// As soon as there is room for one phit: a packet may lie across many switches.
    Wormhole,
    /// As soon as there is room for the whole packet.
    CutThrough,
    /// As [`Switching::CutThrough`], and only when the whole packet has come.
    StoreAndForward,
}

/// Times are in cycles: a channel with a period of 1 moves one phit in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parameters {
    pub switching: Switching,
    /// Virtual channels of each channel, 1 to 16.
    pub lanes: u32,
    /// Phits that fit into the buffer of a lane at its far end. What covers the round trip of flow control
    /// comes on top: credits return at once.
    pub buffer_phits: u32,
    /// From the arrival of a head until it may be given an output.
    pub header_cycles: u32,
    /// How long a switch's arbiter is taken by each head that it gives an output; 0: it serves all heads at
    /// once.
    pub arbiter_cycles: u32,
    /// From the moment a phit leaves until it has arrived, at least 1.
    pub link_cycles: u32,
    /// How long a channel that leaves a switch rests after the last phit of a packet.
    pub gap_cycles: u32,
}

impl Parameters {
    /// A switch as in Myrinet: wormhole, one lane, a head takes 150 ns (24 cycles of 6.25 ns, a byte each),
    /// of which the last is the link's (Sancho, Robles, Duato, CANPC 2000, section 5.2). The papers do not
    /// say how large buffers are: 80 phits, which is Myrinet's slack.
    pub const MYRINET: Parameters = Parameters {
        switching: Switching::Wormhole,
        lanes: 1,
        buffer_phits: 80,
        header_cycles: 23,
        arbiter_cycles: 1,
        link_cycles: 1,
        gap_cycles: 0,
    };

    /// Virtual cut-through with two lanes and room for one packet of 64 phits each (Bermúdez et al., CANPC
    /// 2000, section 4.2).
    pub const CUT_THROUGH: Parameters = Parameters {
        switching: Switching::CutThrough,
        lanes: 2,
        buffer_phits: 64,
        header_cycles: 1,
        arbiter_cycles: 1,
        link_cycles: 1,
        gap_cycles: 0,
    };

    pub fn check(&self) -> Result<(), Impossible> {
        let refuse = |why: &str| Err(Impossible(why.into()));
        match () {
            () if self.lanes == 0 || self.lanes > 16 => refuse("there are 1 to 16 lanes"),
            () if self.buffer_phits == 0 => refuse("a buffer holds at least one phit"),
            () if self.link_cycles == 0 || self.link_cycles > 1 << 16 => {
                refuse("a link takes 1 to 65,536 cycles")
            }
            () => Ok(()),
        }
    }
}

/// Parameters that cannot be.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{0}")]
pub struct Impossible(pub String);
