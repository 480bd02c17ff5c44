//! The book hangs together.

use std::path::{Component, Path, PathBuf};

/// The same path without steps back: so that a page that is reached in two ways is one.
fn straight(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for part in path.components() {
        if part != Component::ParentDir
            || matches!(straight.components().next_back(), None | Some(Component::ParentDir))
        {
            straight.push(part);
        } else {
            straight.pop();
        }
    }
    straight
}

#[test]
fn the_book_hangs_together() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let mut pages = vec![PathBuf::from("SUMMARY.md")];
    let mut done = 0;
    while done < pages.len() {
        let page = pages[done].clone();
        done += 1;
        let text =
            std::fs::read_to_string(book.join(&page)).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with('#') || target.contains("://") {
                continue;
            }
            let target = straight(&page.parent().unwrap().join(target.split('#').next().unwrap()));
            assert!(
                book.join(&target).is_file(),
                "{} points to {}, which is not there",
                page.display(),
                target.display()
            );
            if !pages.contains(&target) {
                pages.push(target);
            }
        }
    }
    let listed = std::fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    for entry in book.read_dir().unwrap().chain(book.join("decisions").read_dir().unwrap()).flatten() {
        let name = entry.file_name().into_string().unwrap();
        assert!(
            !name.ends_with(".md") || name == "SUMMARY.md" || listed.contains(&name),
            "{name} is not in SUMMARY.md"
        );
    }
}
