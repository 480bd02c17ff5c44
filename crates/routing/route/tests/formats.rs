//! Networks and tables survive being written to files and read back.

use evenkeel_route::format::{edge_list, ibnetdiscover, lfts, read_network, source_routes};
use evenkeel_route::generate::{self, Dragonfly, Failures, FatTree, Hierarchical, Irregular, Torus};
use evenkeel_route::{
    Attachment, ChannelOrder, Destination, Network, Port, SwitchId, check, schemes, tables,
};

fn networks() -> Vec<Network> {
    let irregular =
        generate::irregular(Irregular { switches: 12, degree: 4, end_nodes: 3, parallel: true }, 5).unwrap();
    let torus =
        generate::torus(&Torus { sizes: vec![4, 3, 2], wrapped: true, cables: 2, end_nodes: 1 }).unwrap();
    let tree = generate::fat_tree(&FatTree::three_levels(2)).unwrap();
    let faulty = generate::with_failures(&tree, Failures { cables: 3, switches: 1 }, 2).unwrap();
    let dragonfly =
        generate::dragonfly(Dragonfly { groups: 5, switches: 4, global: 2, end_nodes: 2 }).unwrap();
    let hierarchical = generate::hierarchical(
        Hierarchical { groups: 3, switches: 5, degree: 3, uplinks: 3, end_nodes: 2 },
        9,
    )
    .unwrap();
    vec![irregular, torus, tree, faulty, dragonfly, hierarchical]
}

#[test]
fn ibnetdiscover_keeps_everything_but_the_order_of_cables() {
    for network in networks() {
        let text = ibnetdiscover::write(&network);
        let again = read_network(&text).unwrap();
        assert_eq!(again.switches(), network.switches());
        assert_eq!(again.end_nodes(), network.end_nodes());
        assert_eq!(again.channels(), network.channels());
        assert_eq!(ibnetdiscover::write(&again), text);
    }
}

#[test]
fn a_list_of_cables_keeps_which_switches_are_joined() {
    for network in networks() {
        let again = read_network(&edge_list::write(&network)).unwrap();
        let joined = |n: &Network| {
            let name = |s: SwitchId| n.switch(s).name.clone();
            let mut all: Vec<_> = n.channel_ids().map(|c| (name(n.from(c)), name(n.to(c)))).collect();
            all.extend(n.end_nodes().iter().map(|e| (name(e.switch), "end node".into())));
            all.sort();
            all
        };
        assert_eq!(joined(&again), joined(&network));
    }
}

#[test]
fn tables_keep_every_entry() {
    for network in networks() {
        let order = ChannelOrder::up_down(&network, &schemes::breadth_first(&network, SwitchId(0)));
        let table = tables::balanced(&network, &order, tables::BalanceEffort::default());
        let lids = lfts::Lids::of(&network).unwrap();
        let (again, skipped) = lfts::read(&network, &lfts::write(&network, &table, &lids)).unwrap();
        assert_eq!(again, table);
        assert_eq!(skipped, lfts::SkippedEntries::default());
        assert!(check::check_traffic(&network, &again, check::Traffic::Everything).is_sound());
    }
}

/// Output for a real subnet: with addresses, comments, and an adapter whose two ports both have a cable.
const DISCOVERED: &str = "\
#
# Topology file: generated on Tue Jan  5 10:00:00 2021
#
vendid=0x2c9
devid=0xb924
sysimgguid=0xb8c0083f1
switchguid=0xb8c0083f0(b8c0083f0)
Switch\t24 \"S-0000000b8c0083f0\"\t\t# \"MT47396 Infiniscale-III Mellanox Technologies\" \
base port 0 lid 5 lmc 0
[1]\t\"H-0002c90300000268\"[1](2c90300000269) \t\t# \"one HCA-1\" lid 4 4xDDR
[2]\t\"H-0002c90300000268\"[2](2c9030000026a) \t\t# \"one HCA-1\" lid 6 4xDDR
[7]\t\"S-0000000b8c0083f8\"[9]\t\t# \"other\" lid 2 4xDDR
[8]\t\"S-0000000b8c0083f8\"[10]\t\t# \"other\" lid 2 4xDDR

switchguid=0xb8c0083f8(b8c0083f8)
Switch\t24 \"S-0000000b8c0083f8\"\t\t# \"other\" enhanced port 0 lid 2 lmc 0
[9]\t\"S-0000000b8c0083f0\"[7]\t\t# \"MT47396\" lid 5 4xDDR
[10]\t\"S-0000000b8c0083f0\"[8]\t\t# \"MT47396\" lid 5 4xDDR

vendid=0x2c9
caguid=0x2c90300000268
Ca\t2 \"H-0002c90300000268\"\t\t# \"one HCA-1\"
[1](2c90300000269) \t\"S-0000000b8c0083f0\"[1]\t\t# lid 4 lmc 0 \"MT47396\" lid 5 4xDDR
[2](2c9030000026a) \t\"S-0000000b8c0083f0\"[2]\t\t# lid 6 lmc 0 \"MT47396\" lid 5 4xDDR
";

#[test]
fn output_for_a_real_subnet_is_understood() {
    let network = read_network(DISCOVERED).unwrap();
    let lids: Vec<_> = network.switches().iter().map(|s| s.lid).collect();
    assert_eq!(lids, [Some(5), Some(2)]);
    let ends: Vec<_> =
        network.end_nodes().iter().map(|e| (e.port.0, e.port_guid, e.switch_port.0, e.lid)).collect();
    assert_eq!(ends, [(1, 0x2c90300000269, 1, Some(4)), (2, 0x2c9030000026a, 2, Some(6))]);
    assert_eq!(network.channels(), 4);
    assert_eq!(lfts::Lids::of(&network).unwrap().of_destination(Destination::Switch(SwitchId(1))), 2);
}

/// The simple format of `ibsim` has no GUIDs, and names each cable at one end only.
#[test]
fn the_simple_format_of_ibsim_is_understood() {
    let text = "Switch\t8 \"Switch1\"\n[1]\t\"Hca1\"[1]\n[3]\t\"Switch2\"[3]\n\n\
                Switch 8 \"Switch2\"\n[1]\t\"Hca2\"\n\n\
                Hca\t2 \"Hca1\"\n[1]\t\"Switch1\"[1]\n\n\
                Hca\t2 \"Hca2\"\n[1]\t\"Switch2\"[1]\n";
    let network = read_network(text).unwrap();
    assert_eq!(network.channels(), 2);
    let guids: Vec<_> = network.end_nodes().iter().map(|e| (e.guid, e.port_guid)).collect();
    assert_eq!(guids, [(0x100000, 0x100001), (0x100003, 0x100004)]);
    assert!(network.guids_are_made_up());
}

#[test]
fn impossible_networks_are_refused_with_the_line() {
    let twice = DISCOVERED.replace("[8]\t\"S-0000000b8c0083f8\"[10]", "[8]\t\"S-0000000b8c0083f8\"[9]");
    let said = read_network(&twice).unwrap_err().to_string();
    assert!(said.starts_with("line 12: ") && said.contains("port 9"), "{said}");
    let nowhere = DISCOVERED.replace("[7]\t\"S-0000000b8c0083f8\"", "[7]\t\"S-00000000deadbeef\"");
    assert!(
        read_network(&nowhere).unwrap_err().to_string().contains("line 11: a cable to `S-00000000deadbeef`"),
        "{:?}",
        read_network(&nowhere)
    );
    for (text, part) in [
        ("a b c d", "line 1"),
        ("a b\nb b", "line 2: switch `b` is joined with itself"),
        ("# nothing\n", "no switch"),
        ("a + x", "`x` is no number"),
    ] {
        let said = read_network(text).unwrap_err().to_string();
        assert!(said.contains(part), "{text}: {said}");
    }
}

/// Tables as OpenSM dumps them, with a head of columns as `dump_fts` prints it.
const DUMPED: &str = "\
Unicast lids [0x0-0x6] of switch Lid 5 guid 0x0000000b8c0083f0 ('MT47396'):
  Lid  Out   Destination
       Port     Info
0x0004 001 : (Channel Adapter portguid 0x0002c90300000269: 'one HCA-1')
0x0006 002 : (Channel Adapter portguid 0x0002c9030000026a: 'one HCA-1')
0x0002 007 : (Switch portguid 0x0000000b8c0083f8: 'other')
3 valid lids dumped
";

#[test]
fn tables_that_contradict_themselves_are_refused_with_the_line() {
    let network = read_network(DISCOVERED).unwrap();
    let read = |text: &str| lfts::read(&network, text).map_err(|e| e.to_string());
    assert!(read(DUMPED).is_ok_and(|(_, skipped)| skipped == lfts::SkippedEntries::default()));
    let line = DUMPED.lines().nth(3).unwrap();
    assert!(read(&format!("{DUMPED}{line}\n")).is_ok(), "the same once more");
    let changed = |from: &str, to: &str| read(&format!("{DUMPED}{}\n", line.replace(from, to))).unwrap_err();
    for (said, why) in [
        (changed("001", "008"), "by port 8 here and by port 1 in line 4"),
        (changed("0002c90300000269", "0002c9030000026a"), "address 0x0004 belongs to port"),
        (changed("0x0004", "0x0007"), "LMC above 0"),
        (changed("0x0004 001", "nonsense"), "is no line of forwarding tables"),
        (changed("001", "seven"), "an entry is `0xLID PORT`"),
    ] {
        assert!(said.starts_with("line 8: ") && said.contains(why), "{said}");
    }
    // Without GUIDs in the lines the address alone says what the entry is about.
    let bare = DUMPED.replace(" : (Channel Adapter portguid 0x0002c90300000269: 'one HCA-1')", "");
    assert!(read(&bare).is_ok());
    assert!(read(&format!("{bare}0x0004 002\n")).unwrap_err().contains("one port for an address"));
    // An unknown switch's entries may contradict themselves, too.
    let unknown = "Unicast lids [0-9] of switch Lid 9 guid 0x9 ('x'):\n0x0004 001\n0x0004 002\n";
    assert!(read(unknown).unwrap_err().contains("one port for an address"));
}

#[test]
fn guids_that_a_file_does_not_give_are_known_to_be_made_up() {
    let own = read_network(DISCOVERED).unwrap();
    assert!(!own.guids_are_made_up() && !own.without(&[], &[]).guids_are_made_up());
    let listed = read_network("a b\n* + 1\n").unwrap();
    assert!(listed.guids_are_made_up() && listed.without(&[], &[]).guids_are_made_up());
    assert!(!read_network(&ibnetdiscover::write(&listed)).unwrap().guids_are_made_up(), "given from now on");
}

/// The ports of each route lead to its destination, over as many switches as the path of the table.
#[test]
fn source_routes_lead_where_the_table_leads() {
    let network =
        generate::irregular(Irregular { switches: 14, degree: 3, end_nodes: 2, parallel: true }, 4).unwrap();
    let order = ChannelOrder::up_down(&network, &schemes::breadth_first(&network, SwitchId(0)));
    let table = tables::balanced(&network, &order, tables::BalanceEffort::default());
    let text = source_routes::write(&network, &table);
    let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
    let mut routes = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let from = network.switch_ids().find(|s| network.switch(*s).guid == number(words[0])).unwrap();
        let to = network.end_node_ids().find(|e| network.end_node(*e).port_guid == number(words[1])).unwrap();
        assert_eq!(words[2], "0");
        let (mut at, mut hops) = (from, 0);
        let mut arrived = None;
        for port in &words[3..] {
            assert_eq!(arrived, None, "{line}: ports are left over");
            match network.attachment(at, Port(port.parse().unwrap())) {
                Attachment::Channel(c) => (at, hops) = (network.to(c), hops + 1),
                Attachment::EndNode(e) => arrived = Some(e),
                Attachment::Nothing => panic!("{line}: port {port} leads nowhere"),
            }
        }
        assert_eq!(arrived, Some(to), "{line}");
        assert_eq!(hops, table.path(&network, from, Destination::EndNode(to)).unwrap().len());
        routes += 1;
    }
    assert_eq!(routes, 14 * 28);
}
