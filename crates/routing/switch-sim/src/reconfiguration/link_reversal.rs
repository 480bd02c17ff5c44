//! Reversing links between neighbours that only hear of each other by messages.
//!
//! A switch whose turn has come takes the links that it is to reverse for *narrow*, and tells the
//! switches at their other ends. Each of these takes its end for reversed at once and says so; when all
//! have, the first takes its ends for reversed too. So at every moment the turns that are made are a
//! part of those of the old directions together with a part of those of the new ones that meet at
//! narrow links only, and never close a cycle ([`explore`] tries every order).

use super::directed_graph::{Directed, Merge};
use super::switch_tables::{View, Views};
use std::collections::{BTreeMap, HashSet};

/// Where a merge stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Turning {
    /// By switch: links that it reverses, how many must be reversed with it before, and answers that it
    /// waits for (once it has begun).
    waiting: BTreeMap<u32, (Vec<u32>, u32)>,
    answers: BTreeMap<u32, u32>,
}

/// Messages between the two ends of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Message {
    Reverse(u32),
    Reversed(u32),
}

impl Turning {
    pub fn new(merge: &Merge) -> Turning {
        Turning {
            waiting: merge.turns.iter().map(|t| (t.switch, (t.links.clone(), t.after))).collect(),
            answers: BTreeMap::new(),
        }
    }

    /// Nothing is left to reverse.
    pub fn finished(&self) -> bool {
        self.waiting.is_empty() && self.answers.is_empty()
    }

    /// A switch begins, if its turn has come: the messages to send.
    pub fn begin(&mut self, s: u32, graph: &Directed, views: &mut Views) -> Vec<Message> {
        if self.waiting.get(&s).is_none_or(|(_, after)| *after > 0) {
            return Vec::new();
        }
        let (links, _) = self.waiting.remove(&s).expect("it was just looked at");
        if !links.is_empty() {
            self.answers.insert(s, links.len() as u32);
        }
        for link in &links {
            let channel = views.channel(graph, *link, s);
            views.view[channel] = View::Narrow;
        }
        links.into_iter().map(Message::Reverse).collect()
    }

    /// A switch has got a message: its answer. Whether its own turn has come now is for [`Turning::begin`]
    /// to see.
    pub fn receive(
        &mut self,
        s: u32,
        message: Message,
        graph: &mut Directed,
        views: &mut Views,
    ) -> Option<Message> {
        match message {
            Message::Reverse(link) => {
                let channel = views.channel(graph, link, s);
                views.view[channel] = View::Up;
                if let Some((_, after)) = self.waiting.get_mut(&s) {
                    *after -= 1;
                }
                Some(Message::Reversed(link))
            }
            Message::Reversed(link) => {
                let answers = self.answers.get_mut(&s).expect("it asked");
                *answers -= 1;
                if *answers == 0 {
                    self.answers.remove(&s);
                    // All at once: until then every turn between them is narrow.
                    for (link, _) in graph.around(s).collect::<Vec<_>>() {
                        let channel = views.channel(graph, link, s);
                        if views.view[channel] == View::Narrow {
                            views.view[channel] = View::Down;
                            graph.second_is_up[link as usize] ^= true;
                        }
                    }
                }
                let _ = link;
                None
            }
        }
    }
}

/// What goes wrong on purpose, to see that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// Links are not narrow while they are being reversed.
    NotNarrow,
    /// Nobody waits for its turn.
    NoOrder,
}

/// Tries every order in which messages may arrive, and gives the number of states; the error is a state
/// in which escape channels may wait in a circle, or in which there is a root more.
pub fn explore(graph: &Directed, views: &Views, merge: &Merge, mistake: Mistake) -> Result<usize, String> {
    type Flying = Vec<(u32, Message)>;
    let mut turning = Turning::new(merge);
    if mistake == Mistake::NoOrder {
        turning.waiting.values_mut().for_each(|(_, after)| *after = 0);
    }
    let roots_before = roots(graph, views);
    let mut seen: HashSet<(Turning, Flying, Vec<View>)> = HashSet::new();
    let mut open = vec![(turning, graph.clone(), views.clone(), Flying::new())];
    while let Some((turning, graph, views, flying)) = open.pop() {
        if !seen.insert((turning.clone(), flying.clone(), views.view.clone())) {
            continue;
        }
        if !views.escape_is_acyclic(&graph.alive) {
            return Err(format!("a circle with {flying:?} on the way"));
        }
        if roots(&graph, &views) > roots_before {
            return Err(format!("a new root with {flying:?} on the way"));
        }
        for s in turning.waiting.keys() {
            let mut next = (turning.clone(), graph.clone(), views.clone(), flying.clone());
            if next.0.waiting[s].1 > 0 {
                continue;
            }
            let links = next.0.begin(*s, &next.1, &mut next.2);
            for message in &links {
                let Message::Reverse(link) = message else { continue };
                let (a, b) = graph.links[*link as usize];
                next.3.push((if a == *s { b } else { a }, *message));
                if mistake == Mistake::NotNarrow {
                    let channel = next.2.channel(&graph, *link, *s);
                    next.2.view[channel] = View::Down;
                }
            }
            next.3.sort_unstable();
            open.push(next);
        }
        for i in 0..flying.len() {
            let mut next = (turning.clone(), graph.clone(), views.clone(), flying.clone());
            let (s, message) = next.3.remove(i);
            if mistake == Mistake::NoOrder {
                if let Some((_, after)) = next.0.waiting.get_mut(&s) {
                    *after += 1;
                }
            }
            if let Some(answer) = next.0.receive(s, message, &mut next.1, &mut next.2) {
                let Message::Reversed(link) = answer else { continue };
                let (a, b) = graph.links[link as usize];
                next.3.push((if a == s { b } else { a }, answer));
                next.3.sort_unstable();
            }
            open.push(next);
        }
        if flying.is_empty() && turning.finished() && !graph.acyclic() {
            return Err("directions in a circle at the end".into());
        }
    }
    Ok(seen.len())
}

/// Live switches that take no neighbour for one that is up, or is about to be.
fn roots(graph: &Directed, views: &Views) -> usize {
    let top = |s: &u32| {
        graph.alive[*s as usize]
            && graph.around(*s).all(|(link, _)| views.view[views.channel(graph, link, *s)] == View::Down)
    };
    (0..graph.size()).filter(top).count()
}
