//! Tori and meshes of any number of dimensions.

use super::error::{GenerateError, check_end_nodes, port_count, switch_count};
use super::populate::populate;
use crate::network::{Network, NetworkBuilder, SwitchId};

/// The shape of a torus or mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torus {
    /// Switches along each dimension.
    pub sizes: Vec<usize>,
    /// Whether the two ends of each dimension are joined. If they are not, the network is a mesh.
    pub wrapped: bool,
    /// Parallel cables between neighbours.
    pub cables: usize,
    /// End nodes at each switch.
    pub end_nodes: usize,
}

/// A torus or mesh. A dimension of two switches has no second cable between them.
///
/// # Errors
/// A size is 0, a switch would need too many ports, or there would be too many switches.
pub fn torus(shape: &Torus) -> Result<Network, GenerateError> {
    if shape.sizes.contains(&0) {
        return Err(GenerateError::Needs {
            what: "a torus",
            need: "at least one switch along each dimension".into(),
        });
    }
    let for_neighbours = shape.cables.saturating_mul(2 * shape.sizes.len());
    let ports = port_count("a torus", for_neighbours.saturating_add(shape.end_nodes))?;
    let count = switch_count("a torus", shape.sizes.iter().copied())?;
    check_end_nodes("a torus", [count, shape.end_nodes])?;
    let coordinates = |s: usize| {
        let mut rest = s;
        shape.sizes.iter().map(|size| (rest % size, rest /= size).0).collect::<Vec<usize>>()
    };
    let mut builder = NetworkBuilder::default();
    let name = |s: usize| {
        format!("switch{}", coordinates(s).iter().map(|x| x.to_string()).collect::<Vec<_>>().join("-"))
    };
    let switches: Vec<SwitchId> = (0..count).map(|s| builder.add_switch(name(s), ports)).collect();
    populate(&mut builder, switches.iter().copied(), shape.end_nodes);
    for s in 0..count {
        let mut step = 1;
        for (x, size) in coordinates(s).into_iter().zip(&shape.sizes) {
            let neighbour = if x + 1 < *size {
                Some(s + step)
            } else {
                (shape.wrapped && *size > 2).then(|| s - x * step)
            };
            for _ in 0..shape.cables {
                neighbour.inspect(|n| builder.join(switches[s], switches[*n]));
            }
            step *= size;
        }
    }
    Ok(builder.build().expect("every port is used once"))
}
