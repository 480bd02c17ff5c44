//! `evenkeel route simulate` on small networks.

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

fn evenkeel(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evenkeel")).args(["route", "simulate"]).args(arguments).output().unwrap()
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
        let schemes = [
            "--scheme",
            "mdst",
            "--scheme",
            "dfs",
            "--load",
            "0.05,0.9",
            "--seeds",
            "2",
            "--warm-up",
            "1000",
            "--threads",
            threads,
        ];
        let out =
            evenkeel(&[&[net, "--json", &file, "--plot", &plot, "--map", &map][..], &schemes[..]].concat());
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
        let out = evenkeel(&arguments);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(125) && said.contains(why) && said.contains("--help"), "{said}");
    }
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
    let today = tables::balanced(
        &old,
        &ChannelOrder::up_down(&old, &schemes::depth_first(&old)),
        tables::BalanceEffort::default(),
    );
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    std::fs::write(path("old.topo"), ibnetdiscover::write(&old)).unwrap();
    std::fs::write(path("new.topo"), ibnetdiscover::write(&new)).unwrap();
    std::fs::write(path("today.lfts"), lfts::write(&old, &today, &lfts::Lids::of(&old).unwrap())).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .args([
            "route",
            "plan",
            &path("old.topo"),
            &path("today.lfts"),
            &path("new.topo"),
            "--out",
            &path("steps"),
            "--json",
            &path("plan.json"),
        ])
        .output()
        .unwrap();
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
    let route = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_evenkeel"))
            .args(["route", "application"])
            .args(arguments)
            .output()
            .unwrap()
    };
    let out = route(&[
        "--core",
        "token",
        "--core",
        "mesh",
        "--fabric",
        "ethernet",
        "--fabric",
        "avici",
        "--bytes",
        "64",
        "--seeds",
        "2",
        "--json",
        &path("record.json"),
        "--plot",
        &path("latency.svg"),
    ]);
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(
        out.status.success() && said.contains("ethernet") && said.contains("apart"),
        "{said} {}",
        String::from_utf8_lossy(&out.stderr)
    );
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path("record.json")).unwrap()).unwrap();
    let cases = record["cases"].as_array().unwrap();
    let names: Vec<(&str, &str)> =
        cases.iter().map(|c| (c["core"].as_str().unwrap(), c["fabric"].as_str().unwrap())).collect();
    assert_eq!(names, [("token", "ethernet"), ("token", "avici"), ("mesh", "ethernet"), ("mesh", "avici")]);
    // A frame of 82 bytes is stored twice: 2 x 0.656 µs, 0.472 and 0.068.
    let least = cases[0]["messages"]["least"].as_f64().unwrap();
    assert!((least - 1.852).abs() < 1e-9, "{least}");
    assert_eq!(cases[3]["iterations"].as_array().unwrap().len(), 10);
    let plot = std::fs::read_to_string(path("latency.svg")).unwrap();
    assert!(plot.contains("share of messages") && plot.contains("iteration"));
    let refused = route(&["--core", "mash"]);
    assert!(
        !refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("fan-in"),
        "names are offered"
    );
}

#[test]
fn switches_that_go_one_soon_after_the_other_are_met_by_the_static_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let of = evenkeel_route::generate::Irregular { switches: 12, degree: 4, end_nodes: 2, parallel: false };
    let net = folder.path().join("twelve.net");
    std::fs::write(
        &net,
        evenkeel_route::format::edge_list::write(&evenkeel_route::generate::irregular(of, 1).unwrap()),
    )
    .unwrap();
    let record = folder.path().join("record.json");
    let reconfigure = |more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_evenkeel"))
            .args(["route", "reconfigure", net.to_str().unwrap(), "--json", record.to_str().unwrap()])
            .args(more)
            .output()
            .unwrap()
    };
    // By protocol and change: cycles in which a host might not inject.
    let stopped = |more: &[&str]| -> Vec<Vec<u64>> {
        let out = reconfigure(more);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let json: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&record).unwrap()).unwrap();
        let lines = json["timelines"].as_array().unwrap().iter();
        lines
            .map(|l| {
                l["changes"].as_array().unwrap().iter().map(|c| c[1]["stopped"].as_u64().unwrap()).collect()
            })
            .collect()
    };
    let alone = stopped(&[]);
    let soon = stopped(&["--also", "1", "--apart", "150"]);
    let late = stopped(&["--also", "1", "--apart", "15000"]);
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
    for (more, why) in [
        (&["--also", "12"][..], "there is no switch 12"),
        (&["--also", "3,0"], "named twice"),
        (&["--also", "1", "--apart", "20000"], "--apart"),
        (&["--also", "1,2,3,4,5,6,7,8,9"], "in pieces"),
        (&["--apart", "100"], "--also"),
    ] {
        let out = reconfigure(more);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && said.contains(why), "{more:?}: {said}");
    }
}
