//! An order of the channels as plain arrays.

use crate::network::{Channel, Network};
use crate::order::ChannelOrder;

/// An order of the channels, by channel and by position.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChannelPositions {
    /// By channel: its position, from 0.
    pub position: Vec<u32>,
    /// The channels, from the last position to the first.
    pub latest_first: Vec<u32>,
}

/// The order that holds for the trees to a switch; `None` if every turn is allowed.
pub(super) type OrderForRoot<'a, 'p> = &'a (dyn Fn(u32) -> Option<&'p ChannelPositions> + 'a);

impl ChannelPositions {
    /// The order in which channels have these positions.
    pub fn new(position: Vec<u32>) -> ChannelPositions {
        let mut latest_first = vec![0; position.len()];
        for (c, p) in position.iter().enumerate() {
            latest_first[position.len() - 1 - *p as usize] = c as u32;
        }
        ChannelPositions { position, latest_first }
    }

    /// The order in which these channels ascend.
    pub fn from_lowest(channels: &[u32]) -> ChannelPositions {
        let mut position = vec![0; channels.len()];
        channels.iter().enumerate().for_each(|(i, c)| position[*c as usize] = i as u32);
        ChannelPositions::new(position)
    }

    /// The arrays of an order.
    pub fn of(network: &Network, order: &ChannelOrder) -> ChannelPositions {
        ChannelPositions::new(network.channel_ids().map(|c| order.position(c)).collect())
    }

    /// The order as a value of the public interface.
    pub fn channel_order(&self) -> ChannelOrder {
        let lowest_first: Vec<Channel> = self.latest_first.iter().rev().map(|c| Channel(*c)).collect();
        ChannelOrder::from_lowest(&lowest_first)
    }
}
