//! How the items of a list are identified.

/// The identity of the items of a list, as the runtime of its resource describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListItems {
    /// Unknown: items are known by a name if they have one, and otherwise by their order.
    #[default]
    Unknown,
    /// Each value occurs once; the order does not matter.
    Values,
    /// Items are maps, known by the values of these fields.
    Keys(Vec<String>),
}
