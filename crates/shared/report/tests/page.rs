//! The HTML page is complete and self-contained, and nothing that a record may contain breaks it.

mod sample;

use evenkeel_record::{CommRecord, Histogram, OpRecord, PeerRecord, RankRecord, RunRecord, Timeline};
use evenkeel_report::{digest, html, summary};
use std::path::Path;

/// The JSON between the tags, as a browser finds it: up to the first end tag.
fn embedded(page: &str) -> serde_json::Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    let from = page.find(start).expect("the page has a data element") + start.len();
    let length = page[from..].find("</script").expect("the data element ends");
    serde_json::from_str(&page[from..from + length]).expect("the data is JSON")
}

#[test]
fn the_page_contains_the_digest() {
    for name in sample::NAMES {
        let run = sample::sample(name).unwrap();
        assert_eq!(embedded(&html(&run)), serde_json::to_value(digest(&run)).unwrap(), "sample {name}");
    }
}

/// web/test/data.test.ts checks the types of the page against the same file.
#[test]
fn the_example_data_is_current() {
    let written: serde_json::Value = serde_json::from_str(include_str!("digest.json")).unwrap();
    let now = serde_json::to_value(digest(&sample::sample("deferred").unwrap())).unwrap();
    assert!(
        written == now,
        "the digest changed: run \"cargo run -p evenkeel-report --example sample -- deferred digest > \
         crates/shared/report/tests/digest.json\", then \"npm test\" in web/"
    );
}

#[test]
fn names_cannot_become_markup() {
    let page = html(&sample::sample("huge_names").unwrap());
    assert!(page.contains("alert(1)"), "the sample's program should be shown");
    assert!(!page.contains("<script>alert") && !page.contains("<b>comm") && !page.contains("<!-- here"));
    assert_eq!(page.matches("</script").count(), 2, "one data element and one script");
    assert_eq!(page.matches("<!--").count(), 0);
    assert!(page.contains("<title>evenkeel: ") && !page.contains("</title><script>alert"));
}

#[test]
fn the_page_loads_nothing() {
    let page = html(&sample::sample("four").unwrap());
    assert!(page.contains("default-src 'none'"), "the page must forbid the browser to load anything");
    for bad in ["<link", " src=", "@import", "url(http"] {
        let outside_script = page.split("<script>").next().unwrap();
        assert!(!outside_script.contains(bad), "the page contains {bad}");
    }
}

#[test]
fn browsers_without_scripts_show_the_summary() {
    let run = sample::sample("two").unwrap();
    let page = html(&run);
    let from = page.find("<noscript><pre>").unwrap() + "<noscript><pre>".len();
    let shown = &page[from..page.find("</pre>").unwrap()];
    assert_eq!(shown, summary(&run, 100, false));
}

/// The committed page is built from the committed sources. `npm run check` in web/ compares the page itself.
/// This test compares the fingerprint that build.mjs writes into it, and so needs no Node.js.
#[test]
fn the_built_page_is_current() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../web");
    let mut sources: Vec<_> =
        std::fs::read_dir(web.join("src")).unwrap().map(|e| e.unwrap().path()).collect();
    sources.sort();
    sources.push(web.join("package-lock.json"));
    let mut hash = 0xcbf2_9ce4_8422_2325_u64; // FNV-1a
    for source in sources {
        for byte in std::fs::read(source).unwrap() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    let built = std::fs::read_to_string(web.join("dist/page.js")).unwrap();
    assert!(
        built.starts_with(&format!("/* made by build.mjs from sources {hash:016x}")),
        "web/dist is stale: run \"npm ci && npm run build\" in web/ and commit the result"
    );
}

/// A record from a file may hold any numbers. Summary and page must survive them, also in builds that check
/// for overflow.
#[test]
fn absurd_numbers_are_survived() {
    let all = u64::MAX;
    let op = OpRecord {
        op: "barrier".into(),
        calls: all,
        host_calls: all,
        bytes: all,
        time_ns: all,
        wait_ns: all,
        last: all,
        late_ns: all,
        samples: all,
        deferred: all,
        ahead: all,
        overlapped_ns: all,
        waited_for: vec![PeerRecord { rank: u32::MAX, times: all, ns: all }; 2],
        completed_for: vec![PeerRecord { rank: 1, times: all, ns: all }],
        came_last: vec![PeerRecord { rank: 1, times: all, ns: all }; 2],
        latency: Histogram { counts: vec![all; 300] },
    };
    let comm = |id: &str, members| CommRecord {
        id: id.into(),
        members,
        segment_bytes: all,
        ops: vec![op.clone(), OpRecord { op: "reduce".into(), ..op.clone() }],
        ..Default::default()
    };
    let rank = |rank, slice_ns| RankRecord {
        rank,
        elapsed_ns: all,
        cpu_ns: all,
        comms: vec![comm("1", vec![]), comm("2", vec![0, u32::MAX])],
        timeline: Timeline { slice_ns, wait_ns: vec![all; 3] },
        observers: vec![("write()".into(), all), ("window full".into(), all)],
        notes: vec!["note".into(); 2],
        ..Default::default()
    };
    let ranks = vec![rank(0, 1), rank(0, all), rank(u32::MAX, 0)];
    let run = RunRecord { schema: 1, elapsed_ns: all, started_unix_ns: all, ranks, ..Default::default() };
    assert!(summary(&run, 0, true).contains("barrier"));
    assert!(html(&run).contains("barrier"));
}
