//! Parameters of switches and channels.

use serde::Serialize;
use thiserror::Error;

/// When the head of a packet may leave a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switching {
    /// As soon as the next buffer has room for one phit. A packet may extend over many switches.
    Wormhole,
    /// As soon as the next buffer has room for the whole packet.
    CutThrough,
    /// As [`Switching::CutThrough`], but only after the whole packet has arrived.
    StoreAndForward,
}

/// Parameters of all switches and channels. Times are in cycles. A channel with a period of 1 moves one
/// phit per cycle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parameters {
    /// When the head of a packet may leave a switch.
    pub switching: Switching,
    /// Virtual lanes of each channel, 1 to 16.
    pub lanes: u32,
    /// Phits that fit into the buffer at the far end of a virtual lane. Space for the round trip of flow
    /// control is not included, because credits return at once.
    pub buffer_phits: u32,
    /// Time from the arrival of a head until it may be given an output.
    pub header_cycles: u32,
    /// Time for which each head that is given an output occupies the arbiter of the switch. With 0 the
    /// arbiter serves all heads at once.
    pub arbiter_cycles: u32,
    /// Time from the departure of a phit until its arrival, at least 1.
    pub link_cycles: u32,
    /// Time for which a channel from a switch stays idle after the last phit of a packet.
    pub gap_cycles: u32,
}

impl Parameters {
    /// A switch as in Myrinet: wormhole switching and one lane (Sancho, Robles, Duato, CANPC 2000, section
    /// 5.2).
    ///
    /// A head takes 150 ns: 24 cycles of 6.25 ns, in each of which a channel moves one byte. The last one
    /// is the time of the link. The papers do not give the size of buffers. 80 phits is the size of
    /// Myrinet's slack buffers.
    pub const MYRINET: Parameters = Parameters {
        switching: Switching::Wormhole,
        lanes: 1,
        buffer_phits: 80,
        header_cycles: 23,
        arbiter_cycles: 1,
        link_cycles: 1,
        gap_cycles: 0,
    };

    /// Virtual cut-through with two lanes, each with room for one packet of 64 phits (Bermúdez et al.,
    /// CANPC 2000, section 4.2).
    pub const CUT_THROUGH: Parameters = Parameters {
        switching: Switching::CutThrough,
        lanes: 2,
        buffer_phits: 64,
        header_cycles: 1,
        arbiter_cycles: 1,
        link_cycles: 1,
        gap_cycles: 0,
    };

    /// Whether these values can be simulated.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn check(&self) -> Result<(), ParametersError> {
        let refuse = |why: &str| Err(ParametersError(why.into()));
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

/// A parameter is out of range.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{0}")]
pub struct ParametersError(pub String);
