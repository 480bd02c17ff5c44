//! Which receive gets which message, on one communicator: MPI's rules, and when a message may be seen
//! at all.
//!
//! Pure: it holds what was posted and what has come early, and pairs them. MPI wants two orders kept
//! (MPI 4.1, section 3.5): of two receives that fit a message the one posted first gets it, and of two
//! messages of one sender that fit a receive the one sent first is taken. A message that was sent after
//! a barrier is *hidden* until that barrier is known to be complete: until then no receive from any
//! source may have it. It keeps its place meanwhile: it stays behind the first receive it fits, and
//! nothing that its sender has sent later gets past it where both fit. Messages of other senders are
//! not held up.

use std::collections::VecDeque;

/// What a receive or probe asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Rank in the communicator; None: any.
    pub source: Option<usize>,
    /// None: any.
    pub tag: Option<i32>,
}

impl Pattern {
    #[inline(always)]
    fn fits(&self, source: usize, tag: i32) -> bool {
        self.source.is_none_or(|s| s == source) && self.tag.is_none_or(|t| t == tag)
    }
}

struct Posted<R> {
    pattern: Pattern,
    order: u64,
    receive: R,
}

struct Early<M> {
    tag: i32,
    order: u64,
    message: M,
}

/// The receives and messages of one communicator that have not found each other.
pub struct Queues<R, M> {
    /// Receives with a source, by source; in the order of posting.
    named: Vec<VecDeque<Posted<R>>>,
    /// Receives from any source.
    any: VecDeque<Posted<R>>,
    /// Messages that nobody has taken, by sender; in the order of sending.
    early: Vec<VecDeque<Early<M>>>,
    /// How many messages these are.
    kept: usize,
    next_order: u64,
    /// A message stands behind a receive it fits, because it is hidden or behind another one that is.
    held: bool,
}

impl<R, M> Default for Queues<R, M> {
    fn default() -> Self {
        Queues {
            named: Vec::new(),
            any: VecDeque::new(),
            early: Vec::new(),
            kept: 0,
            next_order: 0,
            held: false,
        }
    }
}

/// A place in `early`: sender and position.
type Place = (usize, usize);

impl<R: Copy + PartialEq, M> Queues<R, M> {
    fn order(&mut self) -> u64 {
        self.next_order += 1;
        self.next_order
    }

    fn make_room(&mut self, source: usize) {
        if self.early.len() <= source {
            self.early.resize_with(source + 1, VecDeque::new);
            self.named.resize_with(source + 1, VecDeque::new);
        }
    }

    /// The first posted receive that fits: None for no such, else whether it is one from any source, and
    /// its position.
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

    /// A message of `source` arrives: the receive that gets it, or None if it is kept. `visible`: whether a
    /// receive from any source may have it.
    #[inline]
    pub fn arrive(&mut self, source: usize, tag: i32, visible: impl FnOnce() -> bool) -> Option<R> {
        if self.kept == 0 && self.any.is_empty() {
            // Only receives with a source, and nothing before it: the most frequent case.
            let queue = self.named.get_mut(source)?;
            if queue.front()?.pattern.fits(source, tag) {
                return queue.pop_front().map(|p| p.receive);
            }
        }
        let first @ (any, _) = self.first_posted(source, tag)?;
        // Something that came before it and still waits for this very receive goes first.
        let pattern = if any { self.any[first.1].pattern } else { self.named[source][first.1].pattern };
        if self.early.get(source).is_some_and(|q| q.iter().any(|m| pattern.fits(source, m.tag)))
            || (any && !visible())
        {
            self.held = true;
            return None;
        }
        Some(self.unpost(source, first))
    }

    /// Keeps a message that `arrive` found no receive for.
    pub fn keep(&mut self, source: usize, tag: i32, message: M) {
        self.make_room(source);
        let order = self.order();
        self.early[source].push_back(Early { tag, order, message });
        self.kept += 1;
    }

    /// The message that such a receive or probe may have now, if it were posted now.
    fn find(&self, pattern: Pattern, mut visible: impl FnMut(&M) -> bool) -> Option<Place> {
        let first_of = |source: usize| {
            let at = self.early[source].iter().position(|m| pattern.fits(source, m.tag))?;
            // It is behind a receive posted before, which must be one from any source that it is hidden from.
            self.first_posted(source, self.early[source][at].tag).is_none().then_some((source, at))
        };
        match pattern.source {
            Some(source) if source >= self.early.len() => None,
            Some(source) => first_of(source),
            None => (0..self.early.len())
                .filter(|&s| !self.early[s].is_empty())
                .filter_map(first_of)
                .filter(|&(s, at)| visible(&self.early[s][at].message))
                .min_by_key(|&(s, at)| self.early[s][at].order),
        }
    }

    fn take(&mut self, (source, at): Place) -> M {
        self.kept -= 1;
        self.early[source].remove(at).expect("the position was just found").message
    }

    /// Posts a receive: the message it gets at once (its source, its tag and what it is), or None if it
    /// waits.
    #[inline]
    pub fn post(
        &mut self,
        pattern: Pattern,
        receive: R,
        visible: impl FnMut(&M) -> bool,
    ) -> Option<(usize, i32, M)> {
        if self.kept > 0 {
            if let Some(place) = self.find(pattern, visible) {
                return Some((place.0, self.early[place.0][place.1].tag, self.take(place)));
            }
            let fits =
                |(source, q): (usize, &VecDeque<Early<M>>)| q.iter().any(|m| pattern.fits(source, m.tag));
            self.held = self.held || self.early.iter().enumerate().any(fits);
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

    /// The message that a probe sees: its source, its tag and what it is. Nothing hidden is seen, also from
    /// a named source.
    pub fn probe(&self, pattern: Pattern, mut visible: impl FnMut(&M) -> bool) -> Option<(usize, i32, &M)> {
        let (source, at) = self.find(pattern, &mut visible)?;
        let early = &self.early[source][at];
        visible(&early.message).then_some((source, early.tag, &early.message))
    }

    /// Takes out the message that a probe sees: only a matched receive gets it from then on.
    pub fn take_probed(
        &mut self,
        pattern: Pattern,
        mut visible: impl FnMut(&M) -> bool,
    ) -> Option<(usize, i32, M)> {
        let place = self.find(pattern, &mut visible)?;
        let early = &self.early[place.0][place.1];
        let tag = early.tag;
        visible(&early.message).then(|| (place.0, tag, self.take(place)))
    }

    /// A receive and a message that have become a pair because the message is no longer hidden, or because
    /// a receive before it is gone. To be called until None after either.
    pub fn settle(&mut self, mut visible: impl FnMut(&M) -> bool) -> Option<(R, usize, i32, M)> {
        if !self.held {
            return None;
        }
        self.held = false;
        let mut best: Option<(u64, Place, (bool, usize))> = None;
        // By receives: there may be very many messages, and of them only the first one that a receive fits
        // counts.
        for (source, early) in self.early.iter().enumerate().filter(|(_, q)| !q.is_empty()) {
            let named = self.named[source].iter().enumerate().map(|(i, p)| (false, i, p));
            for (any, position, posted) in named.chain(self.any.iter().enumerate().map(|(i, p)| (true, i, p)))
            {
                let Some(at) = early.iter().position(|m| posted.pattern.fits(source, m.tag)) else {
                    continue;
                };
                self.held = true;
                let Early { tag, order, ref message } = early[at];
                let first = (any, position);
                if best.is_none_or(|(other, ..)| order < other)
                    && self.first_posted(source, tag) == Some(first)
                    && (!any || visible(message))
                {
                    best = Some((order, (source, at), first));
                }
            }
        }
        let (_, place, first) = best?;
        let tag = self.early[place.0][place.1].tag;
        let receive = self.unpost(place.0, first);
        Some((receive, place.0, tag, self.take(place)))
    }

    /// Takes a posted receive back; false if it is not there (any more).
    pub fn cancel(&mut self, receive: R) -> bool {
        for queue in self.named.iter_mut().chain([&mut self.any]) {
            if let Some(at) = queue.iter().position(|p| p.receive == receive) {
                queue.remove(at);
                return true;
            }
        }
        false
    }

    /// Whether no receive is posted.
    pub fn is_unposted(&self) -> bool {
        self.any.is_empty() && self.named.iter().all(VecDeque::is_empty)
    }

    /// Whether `settle` may find something, now or later.
    pub fn is_held(&self) -> bool {
        self.held
    }

    /// Everything that nobody has taken.
    pub fn drain(&mut self) -> impl Iterator<Item = M> + '_ {
        self.kept = 0;
        self.early.iter_mut().flat_map(|q| q.drain(..)).map(|e| e.message)
    }
}
