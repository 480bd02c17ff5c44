//! A schedule as it is typed: `dissemination`, `n-way-dissemination:n=3`.

use crate::errors::{ArgumentSyntaxError, SimulationError};
use crate::input::algorithm_names;
use evenkeel_schedule::{Algorithm, algorithms};
use std::fmt;
use std::str::FromStr;

/// An algorithm's name and parameters, as typed.
#[derive(Clone, Debug)]
pub struct ScheduleName {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Names of parameters and what is given for them.
    parameters: Vec<(String, String)>,
}

impl FromStr for ScheduleName {
    type Err = ArgumentSyntaxError;

    fn from_str(text: &str) -> Result<ScheduleName, ArgumentSyntaxError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let algorithm = algorithms::find(name).ok_or_else(|| {
            let similar = algorithm_names::similar_to(name);
            let suggestion = match similar.is_empty() {
                true => "`evenkeel schedule list` lists them".into(),
                false => format!("there is {}", similar.join(", ")),
            };
            ArgumentSyntaxError::NoSchedule { name: name.into(), suggestion }
        })?;
        let parameter = |part: &str| {
            let (name, value) =
                part.split_once('=').ok_or_else(|| ArgumentSyntaxError::Parameter(part.into()))?;
            Ok((name.to_string(), value.to_string()))
        };
        let parameters = rest.split(',').filter(|part| !part.is_empty()).map(parameter);
        Ok(ScheduleName { algorithm, parameters: parameters.collect::<Result<_, ArgumentSyntaxError>>()? })
    }
}

impl ScheduleName {
    /// The parameters as numbers.
    pub fn parameters(&self) -> Result<Vec<(&str, u32)>, SimulationError> {
        self.parameters.iter().map(|(name, word)| Ok((name.as_str(), self.value(name, word)?))).collect()
    }

    fn value(&self, name: &str, word: &str) -> Result<u32, SimulationError> {
        match self.algorithm.parameters.iter().find(|parameter| parameter.name == name) {
            Some(parameter) => parameter.parse(word).ok_or_else(|| SimulationError::ParameterValue {
                algorithm: self.algorithm.name,
                name: name.into(),
                value: word.into(),
            }),
            // `Schedule::new` refuses it and names the parameters that there are.
            None => Ok(0),
        }
    }
}

impl fmt::Display for ScheduleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm.name)?;
        let parameters: Vec<String> =
            self.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if parameters.is_empty() { Ok(()) } else { write!(f, ":{}", parameters.join(",")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_have_parameters_by_name() {
        let name: ScheduleName = "n-way-dissemination:n=3".parse().unwrap();
        assert_eq!(name.parameters().unwrap(), [("n", 3)]);
        assert_eq!(name.to_string(), "n-way-dissemination:n=3");
        let wrong: ScheduleName = "n-way-dissemination:n=x".parse().unwrap();
        assert!(wrong.parameters().unwrap_err().to_string().contains("`x` is not a value of `n`"));
        let error = "n-way".parse::<ScheduleName>().unwrap_err().to_string();
        assert!(error.contains("there is n-way-dissemination"), "{error}");
        assert!("dissemination:3".parse::<ScheduleName>().is_err());
    }
}
