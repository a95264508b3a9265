//! The blocks around a place of a walk that goes statement by statement.

use super::NameMap;
use base_text::Name;

/// What a block holds for a name.
pub trait Held {
    /// Whether the block defines the name. What `**` brings into a config has a type there,
    /// but is no definition that a name could refer to.
    fn is_definition(&self) -> bool;
}

/// The blocks around the current place, with what is known of their names so far.
///
/// Resolves names for the checker, which knows a type for each definition, and other types after
/// other statements. It differs from [`resolve_unit`](super::resolve_unit) in the ways that
/// [`order`](super::order()) lists.
#[derive(Debug)]
pub struct Blocks<T> {
    blocks: Vec<NameMap<T>>,
    loop_variables: Vec<Name>,
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), loop_variables: Vec::new() }
    }
}

impl<T: Held> Blocks<T> {
    /// Whether the place is at the top level.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Opens a block with about that many names.
    pub fn enter(&mut self, n_names: usize) {
        self.blocks.push(NameMap::with_capacity(n_names));
    }

    /// Closes a block and returns its names. No loop variable is in sight afterwards.
    pub fn leave(&mut self) -> NameMap<T> {
        self.loop_variables.clear();
        self.blocks.pop().unwrap_or_default()
    }

    /// The innermost block.
    pub fn innermost(&self) -> Option<&NameMap<T>> {
        self.blocks.last()
    }

    /// The innermost block, to define names in it.
    pub fn innermost_mut(&mut self) -> Option<&mut NameMap<T>> {
        self.blocks.last_mut()
    }

    /// The innermost definition of a name.
    pub fn find(&mut self, name: Name) -> Option<&mut T> {
        let mut held = self.blocks.iter_mut().rev().filter_map(|block| block.get_mut(name));
        held.find(|held| held.is_definition())
    }

    /// Whether any block holds a name, as a definition or not.
    pub fn hold(&self, name: Name) -> bool {
        self.blocks.iter().any(|block| block.contains(name))
    }

    /// The names that blocks define, the outermost block first.
    pub fn names(&self) -> impl Iterator<Item = Name> {
        let held = self.blocks.iter().flat_map(NameMap::iter);
        held.filter(|(_, held)| held.is_definition()).map(|(name, _)| name)
    }

    /// Notes a loop variable.
    pub fn add_loop_variable(&mut self, name: Name) {
        self.loop_variables.push(name);
    }

    /// Whether a loop variable of that name is in sight.
    pub fn is_loop_variable(&self, name: Name) -> bool {
        self.loop_variables.contains(&name)
    }

    /// Begins a statement: no loop variable is in sight.
    pub fn begin_statement(&mut self) {
        self.loop_variables.clear();
    }

    /// Brings other loop variables into sight, and returns those that were.
    pub fn replace_loop_variables(&mut self, loop_variables: Vec<Name>) -> Vec<Name> {
        std::mem::replace(&mut self.loop_variables, loop_variables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Kept(u32, bool);

    impl Held for Kept {
        fn is_definition(&self) -> bool {
            self.1
        }
    }

    fn define(blocks: &mut Blocks<Kept>, name: &str, value: Kept) {
        blocks.innermost_mut().expect("a block is open").insert(Name::new(name), value);
    }

    #[test]
    fn the_innermost_definition_counts() {
        let (x, y) = (Name::new("x"), Name::new("y"));
        let mut blocks = Blocks::default();
        assert!(blocks.is_empty() && blocks.find(x).is_none());
        blocks.enter(1);
        define(&mut blocks, "x", Kept(1, true));
        blocks.enter(2);
        define(&mut blocks, "x", Kept(2, false));
        define(&mut blocks, "y", Kept(3, false));
        assert_eq!(blocks.find(x).map(|held| held.0), Some(1));
        assert!(blocks.find(y).is_none() && blocks.hold(y));
        assert_eq!(blocks.names().collect::<Vec<_>>(), [x]);
        assert_eq!(blocks.leave().len(), 2);
        assert!(!blocks.hold(y));
    }

    #[test]
    fn loop_variables_are_in_sight_until_a_block_ends() {
        let i = Name::new("i");
        let mut blocks: Blocks<Kept> = Blocks::default();
        blocks.enter(1);
        blocks.add_loop_variable(i);
        assert!(blocks.is_loop_variable(i));
        let seen = blocks.replace_loop_variables(Vec::new());
        assert!(!blocks.is_loop_variable(i));
        blocks.replace_loop_variables(seen);
        blocks.enter(0);
        assert!(blocks.is_loop_variable(i));
        blocks.leave();
        assert!(!blocks.is_loop_variable(i));
        blocks.add_loop_variable(i);
        blocks.begin_statement();
        assert!(!blocks.is_loop_variable(i));
    }
}
