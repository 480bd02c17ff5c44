//! Matches receives and messages on one communicator: MPI's rules, and the rule for messages from after a
//! pending barrier.
//!
//! Pure: it stores posted receives and unexpected messages, and pairs them. MPI demands two orders (MPI
//! 4.1, section 3.5). Of two receives that match a message, the one that was posted first gets it. Of two
//! messages of one sender that match a receive, the one that was sent first is received. A message that was
//! sent after a barrier is *hidden* from a receive until the program may see it there
//! ([`visibility`](super::visibility)): from a receive with a source until this process has entered that
//! barrier, from one from any source until the barrier is known to be complete. The hidden message keeps its
//! place in the order: the first receive that fits is the one that will get it, and no later message of its
//! sender may overtake it if both fit. Messages of other senders are not delayed. Until it gets the message
//! the receive is posted and can be cancelled; the message then goes to the next receive that fits.

use super::visibility::QueryKind;
use std::collections::VecDeque;

/// The source and tag of a receive or probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Rank in the communicator; `None` means any source.
    pub source: Option<usize>,
    /// The tag; `None` means any tag.
    pub tag: Option<i32>,
}

impl Pattern {
    #[inline(always)]
    fn fits(&self, source: usize, tag: i32) -> bool {
        self.source.is_none_or(|s| s == source) && self.tag.is_none_or(|t| t == tag)
    }

    /// What the program learns when a receive with this pattern gets a message.
    #[inline(always)]
    fn query(&self) -> QueryKind {
        query(self.source.is_none())
    }
}

#[inline(always)]
fn query(from_any_source: bool) -> QueryKind {
    if from_any_source { QueryKind::Choose } else { QueryKind::Wait }
}

struct Posted<R> {
    pattern: Pattern,
    order: u64,
    receive: R,
}

struct Unexpected<M> {
    tag: i32,
    order: u64,
    message: M,
}

/// The receives and messages of one communicator that have not been matched.
pub struct Queues<R, M> {
    /// Receives with a source, by source; in the order of posting.
    named: Vec<VecDeque<Posted<R>>>,
    /// Receives from any source.
    any: VecDeque<Posted<R>>,
    /// Unexpected messages by sender, in the order of sending.
    unexpected: Vec<VecDeque<Unexpected<M>>>,
    /// How many unexpected messages there are.
    kept: usize,
    next_order: u64,
    /// Some unexpected message fits a posted receive, but is hidden or follows one of its sender that is.
    has_blocked: bool,
}

impl<R, M> Default for Queues<R, M> {
    fn default() -> Self {
        Queues {
            named: Vec::new(),
            any: VecDeque::new(),
            unexpected: Vec::new(),
            kept: 0,
            next_order: 0,
            has_blocked: false,
        }
    }
}

/// A position in `unexpected`: sender and index.
type Place = (usize, usize);

impl<R: Copy + PartialEq, M> Queues<R, M> {
    fn order(&mut self) -> u64 {
        self.next_order += 1;
        self.next_order
    }

    fn make_room(&mut self, source: usize) {
        if self.unexpected.len() <= source {
            self.unexpected.resize_with(source + 1, VecDeque::new);
            self.named.resize_with(source + 1, VecDeque::new);
        }
    }

    /// Finds the first posted receive that fits. Returns whether it is one from any source, and its
    /// position.
    fn first_posted(&self, source: usize, tag: i32) -> Option<(bool, usize)> {
        let fits = |p: &Posted<R>| p.pattern.fits(source, tag);
        let named = self.named.get(source).and_then(|q| q.iter().position(fits));
        let any = self.any.iter().position(fits);
        match (named, any) {
            (Some(n), Some(a)) if self.any[a].order < self.named[source][n].order => Some((true, a)),
            (Some(n), _) => Some((false, n)),
            (None, a) => a.map(|a| (true, a)),
        }
    }

    fn unpost(&mut self, source: usize, (any, at): (bool, usize)) -> R {
        let queue = if any { &mut self.any } else { &mut self.named[source] };
        queue.remove(at).expect("the position was just found").receive
    }

    /// A message of `source` arrives. Returns the receive that gets it, or `None` if the caller must `keep`
    /// it. `visible` says whether the program may see it with this kind of query.
    #[inline]
    pub fn arrive(&mut self, source: usize, tag: i32, visible: impl FnOnce(QueryKind) -> bool) -> Option<R> {
        if self.kept == 0 && self.any.is_empty() {
            // This is the most frequent case: there are only receives with a source, and no unexpected
            // messages.
            let queue = self.named.get_mut(source)?;
            if queue.front()?.pattern.fits(source, tag) {
                if visible(QueryKind::Wait) {
                    return queue.pop_front().map(|p| p.receive);
                }
                self.has_blocked = true;
                return None;
            }
        }
        let first @ (any, _) = self.first_posted(source, tag)?;
        // An earlier message of the same sender that is waiting for this very receive goes first.
        let pattern = if any { self.any[first.1].pattern } else { self.named[source][first.1].pattern };
        if self.unexpected.get(source).is_some_and(|q| q.iter().any(|m| pattern.fits(source, m.tag)))
            || !visible(query(any))
        {
            self.has_blocked = true;
            return None;
        }
        Some(self.unpost(source, first))
    }

    /// Stores a message for which `arrive` found no receive.
    pub fn keep(&mut self, source: usize, tag: i32, message: M) {
        self.make_room(source);
        let order = self.order();
        self.unexpected[source].push_back(Unexpected { tag, order, message });
        self.kept += 1;
    }

    /// Finds the message that a receive or probe with this pattern would get if it were posted now. `visible`
    /// says whether it may get a message.
    fn find(&self, pattern: Pattern, mut visible: impl FnMut(&M) -> bool) -> Option<Place> {
        let first_of = |source: usize| {
            let at = self.unexpected[source].iter().position(|m| pattern.fits(source, m.tag))?;
            // If an earlier posted receive fits, the message is hidden from it, and stays matched to it.
            self.first_posted(source, self.unexpected[source][at].tag).is_none().then_some((source, at))
        };
        match pattern.source {
            Some(source) if source >= self.unexpected.len() => None,
            Some(source) => first_of(source).filter(|&(s, at)| visible(&self.unexpected[s][at].message)),
            None => (0..self.unexpected.len())
                .filter(|&s| !self.unexpected[s].is_empty())
                .filter_map(first_of)
                .filter(|&(s, at)| visible(&self.unexpected[s][at].message))
                .min_by_key(|&(s, at)| self.unexpected[s][at].order),
        }
    }

    fn take(&mut self, (source, at): Place) -> M {
        self.kept -= 1;
        self.unexpected[source].remove(at).expect("the position was just found").message
    }

    /// Posts a receive. Returns the message that it gets at once (source, tag and message), or `None` if
    /// the receive waits.
    #[inline]
    pub fn post(
        &mut self,
        pattern: Pattern,
        receive: R,
        mut visible: impl FnMut(QueryKind, &M) -> bool,
    ) -> Option<(usize, i32, M)> {
        if self.kept > 0 {
            if let Some(place) = self.find(pattern, |m| visible(pattern.query(), m)) {
                return Some((place.0, self.unexpected[place.0][place.1].tag, self.take(place)));
            }
            let fits = |(source, q): (usize, &VecDeque<Unexpected<M>>)| {
                q.iter().any(|m| pattern.fits(source, m.tag))
            };
            self.has_blocked = self.has_blocked || self.unexpected.iter().enumerate().any(fits);
        }
        let order = self.order();
        let posted = Posted { pattern, order, receive };
        match pattern.source {
            Some(source) => {
                self.make_room(source);
                self.named[source].push_back(posted);
            }
            None => self.any.push_back(posted),
        }
        None
    }

    /// Returns the message that a probe sees: source, tag and message. The program learns when the message
    /// came, so `visible` is asked with [`QueryKind::Choose`] also if the probe names a source.
    pub fn probe(
        &self,
        pattern: Pattern,
        mut visible: impl FnMut(QueryKind, &M) -> bool,
    ) -> Option<(usize, i32, &M)> {
        let (source, at) = self.find(pattern, |m| visible(QueryKind::Choose, m))?;
        let unexpected = &self.unexpected[source][at];
        Some((source, unexpected.tag, &unexpected.message))
    }

    /// Takes out the message that a probe sees. From then on only a matched receive can get it.
    pub fn take_probed(
        &mut self,
        pattern: Pattern,
        mut visible: impl FnMut(QueryKind, &M) -> bool,
    ) -> Option<(usize, i32, M)> {
        let place = self.find(pattern, |m| visible(QueryKind::Choose, m))?;
        let tag = self.unexpected[place.0][place.1].tag;
        Some((place.0, tag, self.take(place)))
    }

    /// Returns a receive and a message that match now because the message is no longer hidden, or because
    /// an earlier receive is gone. After either event, callers repeat this until it returns `None`.
    pub fn settle(&mut self, mut visible: impl FnMut(QueryKind, &M) -> bool) -> Option<(R, usize, i32, M)> {
        if !self.has_blocked {
            return None;
        }
        self.has_blocked = false;
        let mut best: Option<(u64, Place, (bool, usize))> = None;
        // The outer loops go over receives: there may be very many messages, and only the first one that
        // fits a receive matters.
        for (source, unexpected) in self.unexpected.iter().enumerate().filter(|(_, q)| !q.is_empty()) {
            let named = self.named[source].iter().enumerate().map(|(i, p)| (false, i, p));
            for (any, position, posted) in named.chain(self.any.iter().enumerate().map(|(i, p)| (true, i, p)))
            {
                let Some(at) = unexpected.iter().position(|m| posted.pattern.fits(source, m.tag)) else {
                    continue;
                };
                self.has_blocked = true;
                let Unexpected { tag, order, ref message } = unexpected[at];
                let first = (any, position);
                if best.is_none_or(|(other, ..)| order < other)
                    && self.first_posted(source, tag) == Some(first)
                    && visible(query(any), message)
                {
                    best = Some((order, (source, at), first));
                }
            }
        }
        let (_, place, first) = best?;
        let tag = self.unexpected[place.0][place.1].tag;
        let receive = self.unpost(place.0, first);
        Some((receive, place.0, tag, self.take(place)))
    }

    /// Cancels a posted receive. Returns false if it is not, or no longer, posted.
    pub fn cancel(&mut self, receive: R) -> bool {
        for queue in self.named.iter_mut().chain([&mut self.any]) {
            if let Some(at) = queue.iter().position(|p| p.receive == receive) {
                queue.remove(at);
                return true;
            }
        }
        false
    }

    /// Returns whether no receive is posted.
    pub fn is_unposted(&self) -> bool {
        self.any.is_empty() && self.named.iter().all(VecDeque::is_empty)
    }

    /// Returns whether `settle` may find a pair, now or later.
    pub fn has_blocked(&self) -> bool {
        self.has_blocked
    }

    /// Removes all unexpected messages.
    pub fn drain(&mut self) -> impl Iterator<Item = M> + '_ {
        self.kept = 0;
        self.unexpected.iter_mut().flat_map(|q| q.drain(..)).map(|e| e.message)
    }
}
