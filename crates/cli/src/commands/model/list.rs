//! `evenkeel model list`: the sets of parameters that are built in.

use evenkeel_model::{Model, builtin};
use evenkeel_text::page::Page;
use evenkeel_text::paragraph::wrap;

const LEGEND: &str = "NETWORK+NODE:RANKS is a network between nodes with so many ranks each: \
                      mozart-infiniband+two-core-vm:2.";

/// In a narrower column a source would be torn apart, and stands below instead.
const LEAST_SOURCE_WIDTH: usize = 20;

/// Each set with its model and its source, for a terminal of this width.
pub fn list(width: usize) -> String {
    let mut page = Page::new(width);
    let sets: Vec<_> =
        builtin::names().into_iter().filter_map(|name| Some((builtin::find(&name)?, name))).collect();
    let name_width = sets.iter().map(|(_, name)| name.len()).max().unwrap_or(0);
    let source_width = page.width().saturating_sub(name_width + 8);
    for (set, name) in sets {
        let model = if matches!(set.network, Some(Model::LoP(_))) { "LoP" } else { "LogGP" };
        let source = set.node.map_or(set.source, |node| node.source);
        let beginning = format!("{name:name_width$}  {model:5} ");
        if source_width < LEAST_SOURCE_WIDTH {
            page.line(beginning.trim_end()).hanging(&format!("  {source}"));
            continue;
        }
        let indent = " ".repeat(beginning.len());
        for (at, part) in wrap(&source, source_width, "").iter().enumerate() {
            page.line(format!("{}{part}", if at == 0 { &beginning } else { &indent }));
        }
    }
    page.blank().paragraph(LEGEND).text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sets_are_listed() {
        let text = list(80);
        for name in builtin::names() {
            assert!(text.contains(&name), "{name}: {text}");
        }
    }

    #[test]
    fn sources_stand_below_the_names_in_a_narrow_terminal() {
        let text = list(40);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    }
}
