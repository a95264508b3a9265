//! Field sets that were written before a type became atomic.

use kusion_k8s_schema::TypeId;

use super::Typed;
use super::shape::Shape;
use crate::path::PathElement;
use crate::set::Set;

impl Typed<'_> {
    /// Replaces fields inside of what is atomic now by the atomic whole.
    pub fn reconcile(self, set: &mut Set<'_>) {
        match self.shape(None) {
            Shape::Map(map) if !map.is_untyped(self) => {
                self.children(set, |element| match element {
                    PathElement::Field(name) => map.type_of(name),
                    _ => map.element,
                });
            }
            Shape::List(list) => self.children(set, |_| Some(list.element)),
            _ => {}
        }
    }

    fn children(self, set: &mut Set<'_>, type_of: impl Fn(&PathElement<'_>) -> Option<TypeId>) {
        for entry in &mut set.entries {
            if entry.part.children.is_empty() {
                continue;
            }
            let Some(ty) = type_of(&entry.element) else { continue };
            let typed = self.at(ty);
            let atomic = match typed.shape(None) {
                Shape::Map(map) => map.atomic,
                Shape::List(list) => list.atomic(),
                Shape::Scalar(_) => false,
            };
            if atomic {
                entry.part.member = true;
                entry.part.children = Set::new();
            } else {
                typed.reconcile(&mut entry.part.children);
            }
        }
    }
}
