//! The Markdown pages of the project: links lead somewhere, and commands can be typed as they are printed.

mod commands;
mod markdown;

use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// The top of the checkout.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All tracked Markdown pages with their text.
fn pages() -> Vec<(String, String)> {
    let listed = Command::new("git").args(["ls-files", "*.md"]).current_dir(top()).output().unwrap();
    assert!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).unwrap();
    let read = |name: &str| std::fs::read_to_string(top().join(name)).unwrap();
    names.lines().map(|name| (name.to_string(), read(name))).collect()
}

/// A path without `..` in its middle, so that a page that two links reach is one page.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        if part != Component::ParentDir
            || matches!(normalized.components().next_back(), None | Some(Component::ParentDir))
        {
            normalized.push(part);
        } else {
            normalized.pop();
        }
    }
    normalized
}

#[test]
fn each_link_that_is_reachable_from_the_table_of_contents_leads_to_a_file() {
    let book = top().join("docs/src");
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
            let target = normalized(&page.parent().unwrap().join(target.split('#').next().unwrap()));
            assert!(
                book.join(&target).exists(),
                "{} links to {}, which does not exist",
                page.display(),
                target.display()
            );
            // Only pages have links; what looks like one in a program is text.
            if target.extension().is_some_and(|extension| extension == "md") && !pages.contains(&target) {
                pages.push(target);
            }
        }
    }
}

#[test]
fn each_page_of_the_book_is_in_the_table_of_contents() {
    let book = top().join("docs/src");
    let listed = std::fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    for entry in book.read_dir().unwrap().chain(book.join("decisions").read_dir().unwrap()).flatten() {
        let name = entry.file_name().into_string().unwrap();
        assert!(
            !name.ends_with(".md") || name == "SUMMARY.md" || listed.contains(&name),
            "{name} is not in SUMMARY.md"
        );
    }
}

#[test]
fn each_evenkeel_command_on_a_page_parses() {
    let mut found = 0;
    let mut wrong = Vec::new();
    for (name, text) in pages() {
        let commands = commands::of_page(&text);
        found += commands.len();
        wrong.extend(commands.iter().filter_map(|command| {
            let why = command.error()?;
            Some(format!("{name}:{}: {}\n    {why}", command.line, command.words.join(" ")))
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found > 150, "only {found} commands were found: is the search blind?");
}

/// The errors of the commands on a page.
fn errors_of(page: &str) -> Vec<String> {
    commands::of_page(page).iter().filter_map(|command| command.error()).collect()
}

#[test]
fn a_wrong_command_on_a_page_is_found() {
    for wrong in [
        "Run it:\n\n    evenkeel run -n 4 --no-such-option -- ./app\n",
        "Run it:\n\n    mpirun -n 4 $(evenkeel env --no-such-option ./app) ./app\n",
        "```sh\nmake && evenkeel rnu -n 4 -- ./app   # a comment\n```\n",
        "```console\n$ VARIABLE=1 evenkeel run -n 4 \\\n      --no-such-option -- ./app\n```\n",
        "    /usr/bin/time -v target/release/evenkeel noise --no-such-option\n",
        "It is `evenkeel noise --seconds many` that\nsays so.\n",
        "Inline code may be broken: `evenkeel\nnoise --no-such-option`.\n",
        "| command |\n|---|\n| `evenkeel run --wait sometimes` |\n",
        "- a list\n\n      evenkeel simulate dissemination --ranks x\n",
        // A mention in the text may leave the program out; a line of its own may not.
        "    evenkeel run -n 4\n",
    ] {
        assert_eq!(errors_of(wrong).len(), 1, "{wrong}");
    }
}

#[test]
fn right_commands_and_other_text_are_no_errors() {
    for right in [
        "    evenkeel run -n 4 -- ./app --no-option-of-evenkeel > out.txt\n",
        "    evenkeel run -n 4 -- ./app && evenkeel report run.json; evenkeel noise | less\n",
        "    eval \"$(evenkeel env --format shell ./app)\"   # then start it with your launcher\n",
        "    evenkeel run -n 8 --launcher-args '--host a:2,b:2' -- ./app\n",
        "`evenkeel run` becomes the launcher; `evenkeel schedule list --ranks N` takes a number.\n",
        "The library is `evenkeel`. `evenkeel: cannot find ./app` is a sentence, `./evenkeel.so` a file.\n",
        "    an MPI library (binomial tree)          evenkeel is here\n",
        "The picture:\n\n    option ──> evenkeel knows it\n",
        "evenkeel starts this paragraph, and that paragraph is not code.\n",
        "    evenkeel run -n 4 … -- ./app\n",
    ] {
        assert_eq!(errors_of(right), [""; 0], "{right}");
    }
}
