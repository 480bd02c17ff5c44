//! The agent's sleep under loom: a rank that publishes work for the agent wakes it, if it sleeps. Run as
//! `model.rs`.
#![cfg(loom)]

mod loom_memory;

use evenkeel_segment::NodeStatus;
use evenkeel_segment::sync::{AtomicU64, Ordering, fence};
use loom::sync::{Condvar, Mutex};
use loom_memory::{Model, every_interleaving};

struct Node {
    segment: Model,
    work: AtomicU64,
    /// Bytes in the pipe at which the agent sleeps.
    pipe: Mutex<usize>,
    filled: Condvar,
}

fn a_rank_publishes_work_for_the_agent(is_fenced: bool) {
    let make = || Node {
        segment: Model::new(4096),
        work: AtomicU64::new(0),
        pipe: Mutex::new(0),
        filled: Condvar::new(),
    };
    every_interleaving(2, make, move |node, me| {
        let status = NodeStatus::new(&node.segment);
        if me == 0 {
            status.set_agent_asleep();
            if node.work.load(Ordering::Acquire) == 0 {
                let mut bytes = node.pipe.lock().unwrap();
                while *bytes == 0 {
                    bytes = node.filled.wait(bytes).unwrap();
                }
            }
            status.set_agent_awake();
            assert_eq!(node.work.load(Ordering::Acquire), 1);
        } else {
            node.work.store(1, Ordering::Release);
            if is_fenced {
                fence(Ordering::SeqCst);
            }
            if status.is_agent_asleep() {
                *node.pipe.lock().unwrap() += 1;
                node.filled.notify_all();
            }
        }
    });
}

#[test]
fn a_sleeping_agent_is_woken() {
    a_rank_publishes_work_for_the_agent(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_the_ranks_fence_it_sleeps_on() {
    a_rank_publishes_work_for_the_agent(false);
}
