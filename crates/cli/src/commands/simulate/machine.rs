//! The machine that is simulated: `--machine`, `--node`, `--ranks-per-node`.

use super::rank_fault::time;
use crate::errors::{ArgumentSyntaxError, ModelError};
use crate::input::model_parameters;
use evenkeel_model::{LogGp, Model, Node, Parameters, builtin};

/// The parameters of a network, or of a network of nodes with so many ranks each.
pub fn parameters(machine: &str, node: Option<(&str, u32)>) -> Result<Parameters, ModelError> {
    let mut parameters = named_or_inline(machine)?;
    if let Some((node, ranks)) = node {
        let within = named_or_inline(node)?;
        let model = within.node.as_ref().map(|node| node.model).or(within.network);
        let model = model.expect("parameters that were checked have a network or a node");
        let source = within.node.map_or(within.source, |node| node.source);
        parameters.node = Some(Node { source, model, ranks: Some(ranks), cores: None, switch_ns: None });
    }
    Ok(parameters)
}

/// The parameters of a built-in name or a file, or those that the text itself gives.
fn named_or_inline(text: &str) -> Result<Parameters, ModelError> {
    if !text.contains('=') {
        return model_parameters::load(text);
    }
    let model = inline(text).map_err(|error| ModelError::Inline {
        given: text.into(),
        why: error.to_string(),
        known: builtin::names().join(", "),
    })?;
    Ok(Parameters::of_network(text, "command line", model))
}

/// `L=1.5us,o=300ns,g=200ns,G=80ps`; a parameter that is left out is 0.
fn inline(text: &str) -> Result<Model, ArgumentSyntaxError> {
    let mut model = LogGp::logp(0.0, 0.0, 0.0);
    for part in text.split(',') {
        let (name, value) =
            part.split_once('=').ok_or_else(|| ArgumentSyntaxError::ModelParameter(part.into()))?;
        let ns = time(value)?.ns();
        match name {
            "L" => model.latency_ns = ns,
            "o" => (model.send_overhead_ns, model.receive_overhead_ns) = (ns, ns),
            "os" => model.send_overhead_ns = ns,
            "or" => model.receive_overhead_ns = ns,
            "g" => model.gap_ns = ns,
            "G" => model.gap_per_byte_ns = ns,
            _ => return Err(ArgumentSyntaxError::UnknownModelParameter(name.into())),
        }
    }
    Ok(model.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_can_be_written_down() {
        let Model::LogGp(model) = inline("L=1.5us,o=300ns,or=200ns,g=0,G=80ps").unwrap() else {
            panic!("it is LogGP")
        };
        assert_eq!(
            (model.latency_ns, model.send_overhead_ns, model.receive_overhead_ns, model.gap_per_byte_ns),
            (1500.0, 300.0, 200.0, 0.08)
        );
        for wrong in ["L", "L=", "L=3", "q=3us"] {
            assert!(inline(wrong).is_err(), "{wrong}");
        }
        assert!(named_or_inline("mozart-infiniband").is_ok());
        assert!(named_or_inline("nowhere").is_err_and(|e| e.to_string().contains("clic-fast-ethernet")));
    }
}
