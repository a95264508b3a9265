//! What is known of names: the types of globals, of local names, and of the blocks around a
//! place.

use crate::assignable::Relations;
use crate::ty::{DictAttr, FunctionType, NameMap};
use base_text::{FileId, FileSpan, Name, Span};
use kcl_hir::names::NamesByPlace;
use kcl_syntax::ast::ExprId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a name stands for. The names of a config become the known keys of its type.
pub(crate) type Object = DictAttr;

impl Object {
    /// Turns the type of a value into that of a variable, if that is still to be done.
    pub(crate) fn widen(&mut self, types: Relations<'_>) {
        if std::mem::take(&mut self.is_narrow) {
            self.ty = types.widen(&self.ty);
        }
    }
}

/// The names of one package.
#[derive(Default)]
pub(crate) struct PackageScope {
    /// Whether checking of the package has begun.
    pub(crate) is_open: bool,
    /// Whether it is checked at all; see [`kcl_hir::Program::needed_packages`].
    pub(crate) is_needed: bool,
    /// Imports, schemas, aliases and variables.
    pub(crate) objects: NameMap<Object>,
    /// Globals that hold plain data, whose types are found when they are first read.
    pub(crate) literals: FxHashMap<Name, (FileId, ExprId)>,
    /// Names defined by the statements walked so far.
    pub(crate) globals: FxHashMap<Name, FileSpan>,
    /// Lambdas that globals hold, known before their statements are walked.
    pub(crate) lambdas: FxHashMap<Name, Arc<FunctionType>>,
}

/// The local names of one file.
#[derive(Default)]
pub(crate) struct FileScope {
    /// What names mean.
    pub(crate) names: NamesByPlace,
    /// What is known of definitions so far, by their numbers.
    objects: Vec<Option<Object>>,
}

impl FileScope {
    /// Notes what a definition stands for.
    pub(crate) fn set(&mut self, definition: u32, object: Object) {
        let at = definition as usize;
        if self.objects.len() <= at {
            self.objects.resize_with(at + 1, || None);
        }
        self.objects[at] = Some(object);
    }

    /// What a definition stands for, if its place was walked.
    pub(crate) fn get_mut(&mut self, definition: u32) -> Option<&mut Object> {
        self.objects.get_mut(definition as usize)?.as_mut()
    }
}

/// The blocks around the current place: bodies of schemas and lambdas, loops, configs. They say
/// what is defined so far, for the types of configs and for hints; what a name means is said by
/// [`NamesByPlace`].
#[derive(Default)]
pub(crate) struct Blocks {
    blocks: Vec<Block>,
}

#[derive(Default)]
struct Block {
    /// The keys of a config, or the attributes of a schema.
    objects: NameMap<Object>,
    /// Parameters and variables.
    locals: Vec<Name>,
}

impl Blocks {
    /// Whether the place is at the top level.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Opens a block with about that many keys or attributes.
    pub(crate) fn enter(&mut self, n_names: usize) {
        let objects = NameMap::with_capacity(n_names);
        self.blocks.push(Block { objects, locals: Vec::new() });
    }

    /// Closes a block and returns its keys or attributes.
    pub(crate) fn leave(&mut self) -> NameMap<Object> {
        self.blocks.pop().unwrap_or_default().objects
    }

    /// The keys or attributes of the innermost block.
    pub(crate) fn innermost(&self) -> Option<&NameMap<Object>> {
        self.blocks.last().map(|block| &block.objects)
    }

    /// The keys or attributes of the outermost block.
    pub(crate) fn outermost(&self) -> Option<&NameMap<Object>> {
        self.blocks.first().map(|block| &block.objects)
    }

    /// The keys or attributes of the innermost block, to change them.
    pub(crate) fn innermost_mut(&mut self) -> Option<&mut NameMap<Object>> {
        self.blocks.last_mut().map(|block| &mut block.objects)
    }

    /// Notes the keys of open configs as definitions, now that the names of their statement are
    /// resolved.
    pub(crate) fn set_definitions(&self, files: &mut [FileScope]) {
        for (_, object) in self.blocks.iter().flat_map(|block| block.objects.iter()) {
            let file = &mut files[object.at.file.0 as usize];
            if object.is_own
                && let Some(definition) = file.names.bound_at(object.at.span)
            {
                file.set(definition, object.clone());
            }
        }
    }

    /// Whether a block holds the key that is written at that place.
    pub(crate) fn hold(&self, name: Name, at: Span) -> bool {
        let mut held = self.blocks.iter().filter_map(|block| block.objects.get(name));
        held.any(|object| object.is_own && object.at.span == at)
    }

    /// Notes a parameter or variable of the innermost block.
    pub(crate) fn add_local(&mut self, name: Name) {
        if let Some(block) = self.blocks.last_mut() {
            block.locals.push(name);
        }
    }

    /// The names that can be read, the outermost block first. What `**` brings into a config has
    /// a type there, but is no definition that a name could refer to.
    pub(crate) fn names(&self) -> impl Iterator<Item = Name> {
        self.blocks.iter().flat_map(|block| {
            let held = block.objects.iter().filter(|(_, held)| held.is_own);
            held.map(|(name, _)| name).chain(block.locals.iter().copied())
        })
    }
}
