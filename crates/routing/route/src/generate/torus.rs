//! Tori and meshes of any number of dimensions.

use super::{Impossible, populate, port_count};
use crate::network::{Network, NetworkBuilder, SwitchId};

/// What a torus is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torus {
    /// Switches along each dimension.
    pub sizes: Vec<usize>,
    /// Whether the ends of each dimension are joined; if not, it is a mesh.
    pub wrapped: bool,
    /// Cables between neighbours.
    pub cables: usize,
    /// End nodes at each switch.
    pub end_nodes: usize,
}

/// The network of a torus. A dimension of two switches has no second cable around.
///
/// # Errors
/// A size of 0, or too many ports.
pub fn torus(of: &Torus) -> Result<Network, Impossible> {
    if of.sizes.contains(&0) {
        return Err(Impossible::Needs {
            what: "a torus",
            need: "at least one switch along each dimension".into(),
        });
    }
    let ports = port_count("a torus", 2 * of.sizes.len() * of.cables + of.end_nodes)?;
    let count: usize = of.sizes.iter().product();
    let coordinates = |s: usize| {
        let mut rest = s;
        of.sizes.iter().map(|size| (rest % size, rest /= size).0).collect::<Vec<usize>>()
    };
    let mut builder = NetworkBuilder::default();
    let name = |s: usize| {
        format!("switch{}", coordinates(s).iter().map(|x| x.to_string()).collect::<Vec<_>>().join("-"))
    };
    let switches: Vec<SwitchId> = (0..count).map(|s| builder.add_switch(name(s), ports)).collect();
    populate(&mut builder, switches.iter().copied(), of.end_nodes);
    for s in 0..count {
        let mut step = 1;
        for (x, size) in coordinates(s).into_iter().zip(&of.sizes) {
            let neighbour =
                if x + 1 < *size { Some(s + step) } else { (of.wrapped && *size > 2).then(|| s - x * step) };
            for _ in 0..of.cables {
                neighbour.inspect(|n| builder.join(switches[s], switches[*n]));
            }
            step *= size;
        }
    }
    Ok(builder.build().expect("no port is given twice"))
}
