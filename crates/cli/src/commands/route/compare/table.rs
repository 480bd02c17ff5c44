//! The comparison for a terminal: a table for each network.

use super::comparison::Row;
use crate::commands::route::network_file;
use evenkeel_route::Network;
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use evenkeel_text::units::count;

const COLUMNS: &[Column] = &[
    Column { group: "", head: "scheme", dispensable: 0 },
    Column { group: "", head: "deadlock", dispensable: 0 },
    Column { group: "hops", head: "mean", dispensable: 0 },
    Column { group: "hops", head: "most", dispensable: 3 },
    Column { group: "hops", head: "longer", dispensable: 2 },
    Column { group: "load of channels", head: "busiest", dispensable: 0 },
    Column { group: "load of channels", head: "mean", dispensable: 4 },
    Column { group: "", head: "ibdmchk", dispensable: 5 },
    Column { group: "seconds", head: "elapsed", dispensable: 2 },
    Column { group: "seconds", head: "processor", dispensable: 1 },
];

/// What the columns mean.
pub const LEGEND: &str = "deadlock: whether packets can wait for each other in a ring, on one lane. hops: \
                          channels of a path. longer: paths that are not minimal. load: ordered pairs of end \
                          nodes over a channel. ibdmchk: what it says of the tables as OpenSM sets them \
                          (--ibdmchk). seconds: for OpenSM a whole sweep, which reads the network and sets \
                          the tables too.";

/// Adds the table of a network.
pub fn add(name: &str, network: &Network, rows: &[Row], page: &mut Page) {
    page.line(format!("{name}: {}", network_file::size(network)));
    page.table(COLUMNS, &rows.iter().map(cells).collect::<Vec<_>>());
    for row in rows {
        if let Some(note) = &row.note {
            page.hanging(&format!("{}: {note}.", row.scheme));
        }
    }
    page.blank();
}

fn cells(row: &Row) -> Vec<String> {
    let mut cells = vec![row.scheme.clone()];
    let Some(figures) = &row.figures else {
        cells.extend(COLUMNS[1..].iter().map(|_| "-".to_string()));
        return cells;
    };
    let deadlock = match (figures.broken, figures.sound) {
        (1.., _) => "BROKEN",
        (0, true) => "no",
        (0, false) => "YES",
    };
    cells.extend([
        deadlock.into(),
        format!("{:.3}", figures.mean_hops),
        figures.longest_path.to_string(),
        format!("{:.1}%", 100.0 * figures.longer_share),
        count(figures.busiest_load),
        format!("{:.0}", figures.mean_load),
        row.free_by_ibdmchk.map_or("-", |free| if free { "free" } else { "LOOP" }).into(),
        format!("{:.2}", row.seconds),
        format!("{:.2}", row.processor_seconds),
    ]);
    cells
}
