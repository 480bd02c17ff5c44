//! LogP (Culler et al. 1993) and LogGP (Alexandrov et al. 1995): a message costs the same whatever else
//! is in flight.

use serde::{Deserialize, Serialize};

/// The parameters of LogGP. For short messages the gap per byte does not matter, and the model is LogP.
///
/// Höfler 2005, section 2.1.4.4. At most ⌈L/g⌉ messages are in flight between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogGp {
    /// L: from the sender's network card to the receiver's, in nanoseconds.
    pub latency_ns: f64,
    /// o_s: how long the processor is busy with sending a message, in nanoseconds.
    pub send_overhead_ns: f64,
    /// o_r: how long the processor is busy with receiving a message, in nanoseconds.
    pub receive_overhead_ns: f64,
    /// g: the least time between two messages of one node, in nanoseconds.
    pub gap_ns: f64,
    /// G: what each byte after the first takes, in nanoseconds.
    pub gap_per_byte_ns: f64,
}

impl LogGp {
    /// LogP as in most formulas: o_s = o_r = o, and messages have no length. Times are nanoseconds.
    pub fn logp(latency_ns: f64, overhead_ns: f64, gap_ns: f64) -> LogGp {
        LogGp {
            latency_ns,
            send_overhead_ns: overhead_ns,
            receive_overhead_ns: overhead_ns,
            gap_ns,
            gap_per_byte_ns: 0.0,
        }
    }

    /// How long the bytes of a message after the first occupy the wire: (bytes − 1)·G.
    pub fn wire_ns(&self, bytes: u64) -> f64 {
        bytes.saturating_sub(1) as f64 * self.gap_per_byte_ns
    }

    /// f_s = max{o_s, g}: from one send to the next.
    pub fn send_interval_ns(&self) -> f64 {
        self.send_overhead_ns.max(self.gap_ns)
    }

    /// f_r = max{o_r, g}: from one receive to the next.
    pub fn receive_interval_ns(&self) -> f64 {
        self.receive_overhead_ns.max(self.gap_ns)
    }

    /// o_s + L + o_r: one short message, from the call that sends it to the end of the call that receives
    /// it.
    pub fn one_way_ns(&self) -> f64 {
        self.send_overhead_ns + self.latency_ns + self.receive_overhead_ns
    }

    /// t = max{g, o_s + L + o_r}: a short message as one of many consecutive ones (thesis, section
    /// 2.1.4.5).
    pub fn turn_ns(&self) -> f64 {
        self.gap_ns.max(self.one_way_ns())
    }

    /// One message of `bytes`: o_s + (bytes − 1)·G + L + o_r.
    pub fn message_ns(&self, bytes: u64) -> f64 {
        self.one_way_ns() + self.wire_ns(bytes)
    }

    /// How long issuing so many short messages takes: o_s + (n − 1)·max{o_s, g}. 0 for none.
    pub fn issue_ns(&self, messages: u64) -> f64 {
        if messages == 0 {
            0.0
        } else {
            self.send_overhead_ns + (messages - 1) as f64 * self.send_interval_ns()
        }
    }

    /// The time until the last of `peers` ranks has a short message from one rank:
    /// o_s + (n − 1)·max{o_s, g} + L + o_r. 0 for no peers.
    pub fn one_to_many_ns(&self, peers: u64) -> f64 {
        if peers == 0 { 0.0 } else { self.issue_ns(peers) + self.latency_ns + self.receive_overhead_ns }
    }

    /// The time until one rank has a short message from each of `peers` ranks that send at the same time:
    /// o_s + L + o_r + (n − 1)·max{o_r, g}. 0 for no peers.
    ///
    /// The thesis prints max{o_s, g} here (section 2.1.4.5), which is the same under its assumption o_s =
    /// o_r. The collecting rank pays o_r for each message.
    pub fn many_to_one_ns(&self, peers: u64) -> f64 {
        if peers == 0 { 0.0 } else { self.one_way_ns() + (peers - 1) as f64 * self.receive_interval_ns() }
    }

    /// t_bc: a short message from one of `ranks` ranks to all others along a binomial tree (thesis,
    /// section 2.2.5.2): o_s + ⌈log₂P⌉·max{f_s, o_s + L + o_r} + L + o_r. 0 for one rank.
    pub fn binomial_ns(&self, ranks: u64) -> f64 {
        if ranks < 2 {
            return 0.0;
        }
        let turn = self.send_interval_ns().max(self.one_way_ns());
        self.one_way_ns() + f64::from(crate::rounds::ceil_log(2, ranks)) * turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const M: LogGp = LogGp {
        latency_ns: 1000.0,
        send_overhead_ns: 200.0,
        receive_overhead_ns: 300.0,
        gap_ns: 250.0,
        gap_per_byte_ns: 0.5,
    };

    #[test]
    fn primitives_follow_their_formulas() {
        assert_eq!(M.one_way_ns(), 1500.0);
        assert_eq!(M.turn_ns(), 1500.0);
        assert_eq!(LogGp { gap_ns: 9000.0, ..M }.turn_ns(), 9000.0);
        assert_eq!((M.send_interval_ns(), M.receive_interval_ns()), (250.0, 300.0));
        assert_eq!(M.issue_ns(4), 200.0 + 3.0 * 250.0);
        assert_eq!(M.one_to_many_ns(4), M.issue_ns(4) + 1300.0);
        assert_eq!(M.many_to_one_ns(4), 1500.0 + 3.0 * 300.0);
        assert_eq!(M.message_ns(101), 1550.0);
        assert_eq!(M.binomial_ns(8), 1500.0 + 3.0 * 1500.0);
    }

    #[test]
    fn one_peer_costs_one_message_and_no_peer_costs_nothing() {
        assert_eq!((M.one_to_many_ns(1), M.many_to_one_ns(1), M.message_ns(1)), (1500.0, 1500.0, 1500.0));
        assert_eq!(
            (M.one_to_many_ns(0), M.many_to_one_ns(0), M.issue_ns(0), M.binomial_ns(1)),
            (0.0, 0.0, 0.0, 0.0)
        );
    }
}
