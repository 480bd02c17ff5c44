//! What happens when a message arrives.

use super::state::{ANSWER, COUNT, INDEX, KIND, Message, ORIGIN_WITHIN, RAISE, Simulation, WITHIN};
use crate::machine::WITHIN_NODE;
use crate::observer::Observer;

impl<O: Observer> Simulation<'_, O> {
    /// A message arrives. If the rank waited for it, the rank continues.
    pub(super) fn arrive(&mut self, message: &Message) {
        let rank = message.to as usize;
        let state = &mut self.states[rank];
        let link = usize::from(message.word & WITHIN != 0);
        if message.word & KIND == ANSWER {
            state.clock = state.clock.max(message.time);
            state.wants = u32::from(message.value == state.wants);
            self.advance(message.to);
            return;
        }
        let seen = message.time.max(state.in_free);
        state.in_free = seen + self.machine.links[link].cost(1).gap;
        let (waits, wants) = (state.waits, state.wants);
        let index = message.word & INDEX;
        let word = self.word(message.to, index);
        if message.word & KIND == RAISE {
            // A flag never falls. If it is raised again before the rank has looked, the later time is
            // kept. That matters only while arrivals queue up.
            word.value = word.value.max(message.value);
        } else {
            word.value += 1;
        }
        word.seen = seen;
        let value = word.value;
        if message.word & KIND == COUNT {
            let time = seen + self.machine.links[link].cost(1).latency;
            self.queue.push(Message {
                time,
                to: message.origin,
                word: ANSWER | message.word & WITHIN,
                value,
                origin: message.to,
            });
            self.observer.message(message.to, message.origin, seen, time);
        } else {
            word.origin = message.origin | if link == WITHIN_NODE { ORIGIN_WITHIN } else { 0 };
        }
        if waits == index && value >= wants {
            self.advance(message.to);
        }
    }
}
