//! Names of cores and fabrics that do not exist.

use thiserror::Error;

/// There is no core or fabric of this name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum UnknownNameError {
    /// No core.
    #[error("`{0}` is no core: there are token, fan-in, fan-out, mesh and torus")]
    Core(String),
    /// No fabric.
    #[error("`{0}` is no fabric: there are myrinet, ethernet, avici and avici-fabric")]
    Fabric(String),
}
