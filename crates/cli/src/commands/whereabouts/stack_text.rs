//! The call stacks that `evenkeel where --stacks` prints for people.

use crate::jobs::stacks::{RankStack, Reason, TakenStacks};
use evenkeel_stacks::{Frame, Language, ProcessStacks, ThreadStack};
use evenkeel_text::page::Page;
use evenkeel_text::units::{plain, plural, rank_ranges};

/// The most frames of a thread that are shown: of more, the innermost and the outermost ones.
const MOST_FRAMES: usize = 40;

/// Longer names of functions lose their middle.
const NAME_LENGTH: usize = 60;

/// Names are padded to the length of the longest one, up to this.
const MOST_PADDING: usize = 36;

/// Adds a heading, and a part for each stack. Ranks with equal stacks share one.
pub fn add(page: &mut Page, taken: &TakenStacks) {
    page.blank();
    let heading = match taken.reason {
        Reason::Holding => "Call stacks of the ranks that hold up others, innermost function first:",
        Reason::WaitingForEnded => "Call stacks of the ranks that wait, innermost function first:",
        Reason::NoneHolds => {
            "No rank is known to hold up others. Call stacks of all ranks, innermost function first:"
        }
        Reason::Asked => "Call stacks of all ranks, innermost function first:",
    };
    let has_stacks = taken.ranks.iter().any(|rank| rank.stacks.is_ok());
    if has_stacks {
        page.paragraph(heading);
    } else if taken.ranks.is_empty() {
        page.paragraph("There are no processes of which call stacks could be shown.");
    }
    for (ranks, stacks) in groups(&taken.ranks) {
        page.blank();
        page.line(format!("{}:", subject(&ranks)));
        add_process(page, stacks);
    }
    for rank in &taken.ranks {
        if let Err(error) = &rank.stacks {
            page.blank();
            page.hanging(&format!(
                "The call stack of rank {} (process {}) is left out: {error}.",
                rank.rank,
                place(rank)
            ));
        }
    }
    if taken.left_out > 0 {
        page.blank();
        let more = plural(taken.left_out as u64, "more rank", "more ranks");
        page.paragraph(&format!("{more} were not looked at."));
    }
}

/// Ranks with equal stacks, by the first of them.
fn groups(ranks: &[RankStack]) -> Vec<(Vec<&RankStack>, &ProcessStacks)> {
    let mut groups: Vec<(Vec<&RankStack>, &ProcessStacks)> = Vec::new();
    for rank in ranks {
        let Ok(stacks) = &rank.stacks else { continue };
        match groups.iter_mut().find(|(_, others)| is_equal(others, stacks)) {
            Some((members, _)) => members.push(rank),
            None => groups.push((vec![rank], stacks)),
        }
    }
    groups
}

/// Whether the same is shown of both.
fn is_equal(one: &ProcessStacks, other: &ProcessStacks) -> bool {
    let shown = |stacks: &ProcessStacks| {
        stacks.threads.iter().map(|thread| thread.frames.clone()).collect::<Vec<_>>()
    };
    shown(one) == shown(other) && one.python_problem == other.python_problem
}

/// `20625`, `20625 on host2`.
fn place(rank: &RankStack) -> String {
    rank.host.as_ref().map_or(rank.pid.to_string(), |host| format!("{} on {host}", rank.pid))
}

fn subject(ranks: &[&RankStack]) -> String {
    match ranks {
        [one] => format!("Rank {} (process {})", one.rank, place(one)),
        some => format!("Ranks {}", rank_ranges(&some.iter().map(|rank| rank.rank).collect::<Vec<_>>())),
    }
}

fn add_process(page: &mut Page, stacks: &ProcessStacks) {
    for (number, thread) in stacks.threads.iter().enumerate() {
        if number > 0 {
            page.line(format!("  Thread {}, which runs:", thread.tid));
        }
        add_thread(page, thread);
    }
    if stacks.sleeping > 0 {
        page.line(format!("  (and {} in sleep)", plural(stacks.sleeping as u64, "thread", "threads")));
    }
    if let Some(problem) = &stacks.python_problem {
        page.hanging(&format!("  The functions of Python are not known: {problem}."));
    }
}

fn add_thread(page: &mut Page, thread: &ThreadStack) {
    let rows: Vec<(String, String)> = thread.frames.iter().map(row).collect();
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(MOST_PADDING);
    let hidden = rows.len().saturating_sub(MOST_FRAMES);
    for (at, (name, place)) in rows.iter().enumerate() {
        if hidden > 0 && at == MOST_FRAMES / 2 {
            page.line(format!("  … {}", plural(hidden as u64, "function", "functions")));
        }
        if hidden == 0 || !(MOST_FRAMES / 2..MOST_FRAMES / 2 + hidden).contains(&at) {
            page.line(format!("  {name:width$}  {place}"));
        }
    }
    if !thread.is_complete {
        page.line("  … what has called these is not known");
    }
}

/// The function, and where it is.
fn row(frame: &Frame) -> (String, String) {
    let name = frame.function.as_deref().unwrap_or("(no name)");
    let short = |path: &str| path.rsplit('/').next().unwrap_or(path).to_string();
    let place = match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{}:{line}", short(file)),
        (Some(file), None) => short(file),
        _ => frame.module.as_ref().map_or(String::new(), |module| format!("in {module}")),
    };
    let language = if frame.language == Language::Python { " (Python)" } else { "" };
    (plain(name, NAME_LENGTH), format!("{}{language}", plain(&place, NAME_LENGTH)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_stacks::StackError;
    use std::time::Duration;

    fn frame(function: &str, line: u32) -> Frame {
        Frame {
            language: Language::Native,
            function: Some(function.into()),
            file: Some("/src/solver.c".into()),
            line: Some(line),
            module: Some("solver".into()),
        }
    }

    fn rank(rank: u32, frames: Vec<Frame>) -> RankStack {
        let stood_still = Duration::from_micros(u64::from(rank));
        let thread = ThreadStack { tid: rank, frames, is_complete: true, stood_still };
        let stacks = ProcessStacks { threads: vec![thread], ..ProcessStacks::default() };
        RankStack { rank, host: None, pid: 100 + rank, stacks: Ok(stacks) }
    }

    fn text(ranks: Vec<RankStack>) -> String {
        let mut page = Page::new(100);
        add(&mut page, &TakenStacks { reason: Reason::Holding, ranks, left_out: 0 });
        page.text()
    }

    #[test]
    fn ranks_with_equal_stacks_share_one() {
        let both = || vec![frame("step", 12), frame("main", 30)];
        let said = text(vec![rank(1, both()), rank(2, vec![frame("main", 31)]), rank(3, both())]);
        assert!(said.contains("Ranks 1, 3:\n  step  solver.c:12\n  main  solver.c:30\n"), "{said}");
        assert!(said.contains("Rank 2 (process 102):\n  main  solver.c:31\n"), "{said}");
    }

    #[test]
    fn a_long_stack_keeps_both_ends() {
        let said = text(vec![rank(0, (0..200).map(|line| frame("again", line + 1)).collect())]);
        assert!(said.contains("solver.c:1\n") && said.contains("solver.c:200\n"), "{said}");
        assert!(said.contains("… 160 functions") && said.matches("again").count() == MOST_FRAMES, "{said}");
    }

    #[test]
    fn what_is_forbidden_is_said() {
        let error = StackError::Yama { scope: 2 };
        let said = text(vec![RankStack { rank: 5, host: Some("far".into()), pid: 105, stacks: Err(error) }]);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.starts_with("The call stack of rank 5 (process 105 on far) is left out: the kernel's Yama"),
            "{said}"
        );
    }
}
