//! The page for the browser: one HTML file with all its data and code, which needs neither network nor
//! server.

use crate::aggregate::digest;
use crate::summary::summary;
use evenkeel_record::RunRecord;
use evenkeel_text::units::plain;
use serde::Serialize;

const SCRIPT: &str = include_str!("../../../../web/dist/page.js");
const STYLE: &str = include_str!("../../../../web/dist/page.css");

/// What the browser may do: show what is in the page, and load nothing.
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/// The most communicators and pairs of ranks that a page shows.
const MOST_SHOWN: usize = 200;

/// The report of a run as a complete HTML document with data, styles and script inside.
///
/// The page loads nothing, and forbids the browser to try. Without scripts it shows the terminal summary.
pub fn html(run: &RunRecord) -> String {
    let data = digest(run).shortened(MOST_SHOWN);
    document(&plain(run.program.trim(), 80), &run.version, &data, &summary(run, 100, false))
}

/// A complete HTML document with data that the page's script can show (see `web/src/main.ts`).
///
/// `text` is shown by browsers without scripts. Nothing in title, version, data or text becomes markup.
pub fn document(title: &str, version: &str, data: &impl Serialize, text: &str) -> String {
    let data = serde_json::to_string(data).expect("plain data has a JSON form");
    // Only "<" can end a script element ("</script") or hide its end ("<!--").
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
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
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
