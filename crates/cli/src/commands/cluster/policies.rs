//! Policies on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use evenkeel_cluster_sim::Policy;

/// Reads the name of a policy.
pub fn policy_parser() -> impl TypedValueParser<Value = Policy> {
    PossibleValuesParser::new(Policy::ALL.map(possible_value)).map(|name| {
        Policy::ALL
            .into_iter()
            .find(|policy| policy.word() == name)
            .expect("only names of policies are possible")
    })
}

fn possible_value(policy: Policy) -> PossibleValue {
    PossibleValue::new(policy.word()).help(policy.title())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    #[test]
    fn policies_are_read_by_their_names() {
        let read = |name: &str| {
            let command = clap::Command::new("c").arg(Arg::new("policy").value_parser(policy_parser()));
            command.try_get_matches_from(["c", name]).ok()?.get_one::<Policy>("policy").copied()
        };
        for policy in Policy::ALL {
            assert_eq!(read(policy.word()), Some(policy));
            assert_eq!(policy.word(), policy.name().to_lowercase());
        }
        assert_eq!(read("lifo"), None);
    }
}
