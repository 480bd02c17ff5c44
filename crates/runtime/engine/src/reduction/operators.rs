//! Numbers for the built-in operators, by which processes tell each other which operator a call uses.

use super::kernels::builtin;
use crate::collective::call::Combine;

const OPERATORS: [&str; 10] = ["sum", "prod", "max", "min", "band", "bor", "bxor", "land", "lor", "lxor"];
const CLASSES: [char; 3] = ['i', 'u', 'f'];
const WIDTHS: [usize; 4] = [1, 2, 4, 8];
const NUMBERS: u8 = (OPERATORS.len() * CLASSES.len() * WIDTHS.len()) as u8;

/// Returns the function with this number, and the size of an element in bytes; `None` if there is none. 0
/// stands for no operator.
pub fn numbered(number: u8) -> Option<(Combine, usize)> {
    let index = usize::from(number.checked_sub(1)?);
    let (operator, class, width) = (index / 12, index / 4 % 3, WIDTHS[index % 4]);
    Some((builtin(OPERATORS.get(operator)?, CLASSES[class], width)?, width))
}

/// The numbers of all functions, sorted by address.
pub struct OperatorTable(Vec<(usize, u8)>);

impl Default for OperatorTable {
    fn default() -> OperatorTable {
        let address = |number: u8| numbered(number).map(|(function, _)| function as usize);
        let mut all: Vec<(usize, u8)> =
            (1..=NUMBERS).filter_map(|number| Some((address(number)?, number))).collect();
        all.sort_unstable();
        OperatorTable(all)
    }
}

impl OperatorTable {
    /// Returns the number of a built-in function; `None` if it is another function. If the compiler has
    /// merged the functions of two operators, they do the same, so either number is right.
    pub fn number_of(&self, combine: Combine) -> Option<u8> {
        let at = self.0.partition_point(|&(function, _)| function < combine as usize);
        self.0.get(at).filter(|&&(function, _)| function == combine as usize).map(|&(_, number)| number)
    }

    /// The size of an element of the function with this number, in bytes.
    pub fn element_bytes(&self, number: u8) -> Option<usize> {
        numbered(number).map(|(_, bytes)| bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::c_void;

    #[test]
    fn functions_are_found_by_number() {
        let table = OperatorTable::default();
        assert!(numbered(0).is_none() && numbered(121).is_none());
        for (op, class, width) in [("sum", 'i', 4), ("max", 'f', 8), ("lxor", 'u', 1)] {
            let function = builtin(op, class, width).unwrap();
            let (found, wide) = numbered(table.number_of(function).unwrap()).unwrap();
            assert_eq!((found as usize, wide), (function as usize, width));
        }
        unsafe extern "C" fn own(_: *mut c_void, _: *const c_void, _: *mut c_void, _: usize) {}
        assert_eq!(table.number_of(own), None);
    }
}
