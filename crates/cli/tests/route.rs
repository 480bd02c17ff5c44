//! The commands of `evenkeel route` on small networks.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Three switches in a ring and one more, two hosts at each, as a list of cables.
fn network(folder: &Path) -> PathBuf {
    use evenkeel_route::{format::edge_list, generate};
    let of = generate::Irregular { switches: 6, degree: 3, end_nodes: 2, parallel: false };
    let file = folder.join("six.net");
    std::fs::write(&file, edge_list::write(&generate::irregular(of, 1).unwrap())).unwrap();
    file
}

/// Runs `evenkeel route`.
fn route(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evenkeel")).arg("route").args(arguments).output().unwrap()
}

#[test]
fn schemes_are_compared_and_the_record_is_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let net = network(folder.path());
    let net = net.to_str().unwrap();
    let record = |name: &str, threads: &str| {
        let file = folder.path().join(name);
        let (plot, map) = (folder.path().join("curve.svg"), folder.path().join("map.svg"));
        let path = |p: &Path| p.to_str().unwrap().to_string();
        let (file, plot, map) = (path(&file), path(&plot), path(&map));
        let schemes = "--scheme mdst --scheme dfs --load 0.05,0.9 --seeds 2 --warm-up 1000 --threads";
        let files = ["simulate", net, "--json", &file, "--plot", &plot, "--map", &map];
        let out = route(&files.into_iter().chain(schemes.split(' ')).chain([threads]).collect::<Vec<_>>());
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(
            text.contains("mdst") && text.contains("dfs") && text.contains("million phit moves"),
            "{text}"
        );
        assert!(std::fs::read_to_string(&plot).unwrap().contains("latency against accepted traffic"));
        assert!(std::fs::read_to_string(&map).unwrap().contains("to switch"));
        let mut json: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        for case in json["cases"].as_array_mut().unwrap() {
            (case["seconds"], case["processor_seconds"]) = (serde_json::Value::Null, serde_json::Value::Null);
        }
        json
    };
    let one = record("one.json", "1");
    assert_eq!(one, record("two.json", "2"));
    let points = &one["cases"][0]["runs"][0]["points"];
    assert_eq!(
        (points[0]["saturated"].as_bool(), points[1]["saturated"].as_bool()),
        (Some(false), Some(true))
    );
}

#[test]
fn refusals_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let net = network(folder.path());
    let net = net.to_str().unwrap();
    for (arguments, why) in [
        (vec!["nowhere.net"], "nowhere.net cannot be read"),
        (vec![net, "--load", "1.5"], "at most 1"),
        (vec![net, "--scheme", "adaptive", "--lanes", "1"], "two lanes"),
        (vec![net, net, "--lfts", net], "belong to one network"),
    ] {
        let out = route(&[&["simulate"], &arguments[..]].concat());
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(125) && said.contains(why) && said.contains("--help"), "{said}");
    }
}

#[test]
fn tables_of_another_network_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    for (name, seed) in [("one", "1"), ("other", "2")] {
        let (net, lfts) = (path(&format!("{name}.topo")), path(&format!("{name}.lfts")));
        let switches = if name == "one" { "6" } else { "9" };
        let made = route(&[
            "generate",
            "irregular",
            "--switches",
            switches,
            "--degree",
            "3",
            "--seed",
            seed,
            "-o",
            &net,
        ]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        assert!(route(&["compute", &net, "--lfts", &lfts]).status.success());
    }
    let refused = |arguments: &[&str], why: &str| {
        let out = route(arguments);
        let said = String::from_utf8_lossy(&out.stderr).replace("\n", " ");
        assert!(out.status.code() == Some(125) && said.contains(why), "{said}");
    };
    let (one, tables) = (path("one.topo"), path("other.lfts"));
    refused(&["simulate", &one, "--lfts", &tables], "Give the tables of this network");
    refused(&["plan", &one, &tables, &one], "Give the tables of this network");
    // The same shape with other GUIDs: every entry is about something else.
    let text = std::fs::read_to_string(path("one.lfts")).unwrap();
    std::fs::write(path("foreign.lfts"), text.replace("guid 0x00", "guid 0x0f")).unwrap();
    refused(&["simulate", &one, "--lfts", &path("foreign.lfts")], "connect 0 of");
    // Tables that lack a switch belong to the network, but no traffic can be simulated with them.
    let cut = text.split_once("lids dumped\n").unwrap().1;
    std::fs::write(path("cut.lfts"), cut).unwrap();
    refused(&["simulate", &one, "--lfts", &path("cut.lfts")], "they name 0 switches");
}

#[test]
fn a_plan_between_networks_without_guids_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    std::fs::write(path("old.net"), "a b\nb c\nc a\n* + 1\n").unwrap();
    std::fs::write(path("new.net"), "b c\nc a\n* + 1\n").unwrap();
    let (old, new, tables) = (path("old.net"), path("new.net"), path("old.lfts"));
    assert!(route(&["compute", &old, "--lfts", &tables]).status.success());
    let out = route(&["plan", &old, &tables, &new]);
    let said = String::from_utf8_lossy(&out.stderr).replace("\n", " ");
    assert!(out.status.code() == Some(125) && said.contains("old.net has no GUIDs"), "{said}");
    assert!(route(&["plan", &old, &tables, &old]).status.success(), "a network is matched with itself");
}

#[test]
fn a_plan_is_printed_proved_and_written() {
    use evenkeel_route::format::{ibnetdiscover, lfts};
    use evenkeel_route::{Channel, ChannelOrder, generate, schemes, tables};
    let folder = tempfile::tempdir().unwrap();
    let of = generate::Irregular { switches: 8, degree: 3, end_nodes: 2, parallel: false };
    let old = generate::irregular(of, 3).unwrap();
    let new = (0..old.channels() as u32)
        .map(|c| old.without(&[Channel(c)], &[]))
        .find(|n| n.is_connected())
        .unwrap();
    let current = tables::balanced(
        &old,
        &ChannelOrder::up_down(&old, &schemes::depth_first(&old)),
        tables::BalanceEffort::default(),
    );
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    std::fs::write(path("old.topo"), ibnetdiscover::write(&old)).unwrap();
    std::fs::write(path("new.topo"), ibnetdiscover::write(&new)).unwrap();
    std::fs::write(path("current.lfts"), lfts::write(&old, &current, &lfts::Lids::of(&old).unwrap()))
        .unwrap();
    let (networks, tables) = ([path("old.topo"), path("new.topo")], path("current.lfts"));
    let files = ["--out", &path("steps"), "--json", &path("plan.json")];
    let out = route(&[&["plan", &networks[0], &tables, &networks[1]][..], &files].concat());
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(
        out.status.success() && said.contains("proved") && said.contains("all 240 pairs"),
        "{said} {}",
        String::from_utf8_lossy(&out.stderr)
    );
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path("plan.json")).unwrap()).unwrap();
    let steps = record["steps"].as_array().unwrap().len();
    let last = std::fs::read_to_string(folder.path().join("steps").join(format!("{steps}.lfts"))).unwrap();
    let (end, _) = lfts::read(&new, &last).unwrap();
    assert!(evenkeel_route::check::check(&new, &end).is_sound());
}

#[test]
fn application_cores_are_run_recorded_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (json, svg) = (path("record.json"), path("latency.svg"));
    let chosen = "application --core token --core mesh --fabric ethernet --fabric avici --bytes 64 --seeds 2";
    let files = ["--json", &json, "--plot", &svg];
    let out = route(&chosen.split(' ').chain(files).collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(
        out.status.success() && said.contains("ethernet") && said.contains("apart"),
        "{said} {}",
        String::from_utf8_lossy(&out.stderr)
    );
    let record: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let cases = record["cases"].as_array().unwrap();
    let names: Vec<(&str, &str)> =
        cases.iter().map(|c| (c["core"].as_str().unwrap(), c["fabric"].as_str().unwrap())).collect();
    assert_eq!(names, [("token", "ethernet"), ("token", "avici"), ("mesh", "ethernet"), ("mesh", "avici")]);
    // A frame of 82 bytes is stored twice: 2 x 0.656 µs, 0.472 and 0.068.
    let least = cases[0]["messages"]["least"].as_f64().unwrap();
    assert!((least - 1.852).abs() < 1e-9, "{least}");
    assert_eq!(cases[3]["iterations"].as_array().unwrap().len(), 10);
    let plot = std::fs::read_to_string(svg).unwrap();
    assert!(plot.contains("share of messages") && plot.contains("iteration"));
    let refused = route(&["application", "--core", "mash"]);
    assert!(
        !refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("fan-in"),
        "names are offered"
    );
}

/// Runs `evenkeel route reconfigure` on a network of twelve switches that is made in `folder`.
fn reconfigure(folder: &Path, more: &[&str]) -> Output {
    let of = evenkeel_route::generate::Irregular { switches: 12, degree: 4, end_nodes: 2, parallel: false };
    let network = evenkeel_route::generate::irregular(of, 1).unwrap();
    let (net, record) = (folder.join("twelve.net"), folder.join("record.json"));
    std::fs::write(&net, evenkeel_route::format::edge_list::write(&network)).unwrap();
    let files = ["reconfigure", net.to_str().unwrap(), "--json", record.to_str().unwrap()];
    route(&[&files[..], more].concat())
}

/// By protocol and change: cycles in which a host might not inject.
fn stopped_cycles(folder: &Path, more: &[&str]) -> Vec<Vec<u64>> {
    let out = reconfigure(folder, more);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = std::fs::read_to_string(folder.join("record.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let of_line = |line: &serde_json::Value| {
        let changes = line["changes"].as_array().unwrap().iter();
        changes.map(|change| change[1]["stopped"].as_u64().unwrap()).collect()
    };
    json["timelines"].as_array().unwrap().iter().map(of_line).collect()
}

#[test]
fn a_switch_that_goes_soon_after_another_makes_all_protocols_stop_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let alone = stopped_cycles(folder.path(), &[]);
    let soon = stopped_cycles(folder.path(), &["--also", "1", "--apart", "150"]);
    let late = stopped_cycles(folder.path(), &["--also", "1", "--apart", "15000"]);
    for protocol in 0..3 {
        for change in 0..2 {
            let of = |all: &[Vec<u64>]| all[protocol][change] > 0;
            assert_eq!(
                (of(&alone), of(&soon), of(&late)),
                (protocol == 0, true, protocol == 0),
                "{alone:?} {soon:?} {late:?}"
            );
        }
    }
}

#[test]
fn switches_that_cannot_go_together_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (more, why) in [
        (&["--also", "12"][..], "there is no switch 12"),
        (&["--also", "3,0"], "named twice"),
        (&["--also", "1", "--apart", "20000"], "--apart"),
        (&["--also", "1,2,3,4,5,6,7,8,9"], "in pieces"),
        (&["--apart", "100"], "--also"),
    ] {
        let out = reconfigure(folder.path(), more);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && said.contains(why), "{more:?}: {said}");
    }
}
