//! The numbers of switches, end nodes, channels and ports, each with a type of its own.

/// A switch, numbered from 0 in the order of the file or generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwitchId(pub u32);

/// An end node: a port of a host channel adapter, with an address (LID) of its own.
///
/// An adapter with two cabled ports is two end nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndNodeId(pub u32);

/// One direction of a cable between two switches. Cable n has the channels 2n and 2n + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(pub u32);

/// A port of a switch or adapter, numbered from 1. Port 0 is a switch's own management port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u8);

impl SwitchId {
    /// The number as an index into vectors by switch.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EndNodeId {
    /// The number as an index into vectors by end node.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Channel {
    /// The number as an index into vectors by channel.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The other direction of the same cable.
    pub fn reverse(self) -> Channel {
        Channel(self.0 ^ 1)
    }
}
