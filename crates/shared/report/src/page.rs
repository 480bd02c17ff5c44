//! The page for the browser: one file that needs nothing else, neither a network nor a server.

use crate::digest::digest;
use crate::summary::summary;
use evenkeel_record::RunRecord;
use serde::Serialize;

const SCRIPT: &str = include_str!("../../../../web/dist/page.js");
const STYLE: &str = include_str!("../../../../web/dist/page.css");

/// As many communicators as a page can show.
const MOST_COMMS: usize = 200;

/// A complete HTML document with data, styles and script inside. Nothing is loaded from anywhere, and the
/// page forbids the browser to try; without scripts it shows the terminal summary.
pub fn html(run: &RunRecord) -> String {
    let data = digest(run).with_most_comms(MOST_COMMS);
    document(
        &evenkeel_text::units::plain(run.program.trim(), 80),
        &run.version,
        &data,
        &summary(run, 100, false),
    )
}

/// The document around data that the page's script knows how to show (`web/src/main.ts`). `text` is for
/// those without scripts. Whatever title, version, data and text contain, none of it becomes markup.
pub fn document(title: &str, version: &str, data: &impl Serialize, text: &str) -> String {
    let data = serde_json::to_string(data).expect("plain data has a JSON form");
    // In a script element only "<" can end the data ("</script") or hide its end ("<!--").
    let data = data.replace('<', "\\u003c");
    let (title, text) = (escape(title), escape(text));
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="evenkeel {version}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<title>evenkeel: {title}</title>
<style>{STYLE}</style>
</head>
<body>
<noscript><pre>{text}</pre></noscript>
<main id="report"></main>
<script type="application/json" id="data">{data}</script>
<script>{SCRIPT}</script>
</body>
</html>
"#,
        version = escape(version),
    )
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}
