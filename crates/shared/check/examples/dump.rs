use evenkeel_trace::checks::file::*;
fn main() {
    let p = std::env::args().nth(1).unwrap();
    let from: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let n: usize = std::env::args().nth(3).unwrap().parse().unwrap();
    let want: Option<i64> = std::env::args().nth(4).map(|s| s.parse().unwrap());
    let c = Checks::parse(&std::fs::read(p).unwrap()).unwrap();
    let mut ends = 0;
    let mut name = String::new();
    let mut shown = 0;
    for e in &c.events {
        match e {
            Event::Begin { function, words, .. } => {
                name = c.functions[*function as usize].name.clone();
                let w = c.words(*words);
                if want.map_or(ends >= from, |h| w.contains(&h)) {
                    println!("{ends} {name} {:?}", w);
                    shown += 1;
                }
            }
            Event::End { words, has_failed, .. } => {
                let w = c.words(*words);
                if want.map_or(ends >= from, |h| w.contains(&h)) {
                    println!("   {ends} end {name} {has_failed} {:?}", w);
                    shown += 1;
                }
                ends += 1;
            }
            Event::Changed(h, g) => println!("changed {h} {g}"),
            _ => {}
        }
        if shown > n {
            break;
        }
    }
}
