//! Rules.

use crate::call::ParamTypes;
use crate::error::Eval;
use crate::evaluator::Evaluator;
use crate::instance::Instance;
use crate::layout::{Layout, SchemaId};
use base_text::FileId;
use kcl_syntax::ast::{Param, Path, Rule, Stmt, StmtId};
use kcl_value::{CallArgs, Dict, Origin, Slot, Value};
use std::rc::Rc;

/// A rule of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleRef {
    pub(crate) file: FileId,
    pub(crate) stmt: StmtId,
}

impl<'p> Evaluator<'p> {
    fn rule(&self, rule: RuleRef) -> Option<&'p Rule> {
        match &self.program.file(rule.file).module[rule.stmt].kind {
            Stmt::Rule(rule) => Some(rule),
            _ => None,
        }
    }

    /// Checks a config against a rule.
    pub(crate) fn run_rule(
        &mut self,
        rule_ref: RuleRef,
        config: Rc<Dict>,
        site: Origin,
        args: &Rc<CallArgs>,
    ) -> Eval<Value> {
        let Some(rule) = self.rule(rule_ref) else { return Ok(Value::Undefined) };
        self.enter()?;
        let host = match &rule.for_host {
            Some(path) => self.find_schema(rule_ref.file, path)?,
            None => None,
        };
        let (instance, value) = match host {
            Some(host) => {
                let instance = self.make_instance(host, config, site, args.clone())?;
                let value = self.snapshot(&instance);
                (instance, value)
            }
            None => {
                let layout = Rc::new(Layout::empty());
                let instance = Instance::new(SchemaId::NONE, layout, config, site, args.clone());
                (Rc::new(instance), Value::dict(Dict::new()))
            }
        };
        self.schema_depth += 1;
        let result = self.check_rule(rule_ref, rule, &instance, args, true);
        self.schema_depth -= 1;
        self.leave();
        result.map(|()| value)
    }

    fn check_rule(
        &mut self,
        rule_ref: RuleRef,
        rule: &'p Rule,
        this: &Rc<Instance>,
        args: &CallArgs,
        is_outermost: bool,
    ) -> Eval<()> {
        self.enter()?;
        self.note_declaration(rule_ref.file, rule_ref.stmt);
        let n_slots = self.unit(rule_ref.file, rule_ref.stmt);
        let mut frame = self.file_frame(rule_ref.file);
        frame.this = Some(this.clone());
        self.in_frame(frame, n_slots as usize, |evaluator| {
            let base = evaluator.frame.base;
            let n_params = rule.params.as_ref().map_or(0, |params| params.list.len());
            let n_args = args.positional.len().min(n_params);
            evaluator.stack[base..base + n_args].clone_from_slice(&args.positional[..n_args]);
            let types = ParamTypes::new();
            evaluator.bind_params(rule.params.as_ref(), n_args, &args.named, &types)?;
            if is_outermost {
                evaluator.set_given(rule, this, args);
                for &decorator in &rule.decorators {
                    evaluator.run_decorator(decorator, rule.name.name, true, this)?;
                }
            }
            for parent in &rule.parents {
                if let Some(parent_ref) = evaluator.find_rule(rule_ref.file, parent)?
                    && let Some(parent) = evaluator.rule(parent_ref)
                {
                    evaluator.lend_params(rule, parent, this);
                    evaluator.check_rule(parent_ref, parent, this, args, false)?;
                }
            }
            rule.checks.iter().try_for_each(|check| evaluator.run_check(check, this.site))
        })?;
        self.leave();
        Ok(())
    }

    /// Lets an argument stand for the attribute of the protocol that has the name of its
    /// parameter, in the checks of the rule, in whose frame the code runs, and of its bases.
    fn set_given(&mut self, rule: &Rule, this: &Instance, args: &CallArgs) {
        for (at, param) in params(rule).iter().enumerate() {
            let name = param.name.name;
            let is_named = args.named.iter().any(|(given, _)| given.as_str() == name.as_str());
            if (at < args.positional.len() || is_named)
                && let Some(slot) = this.slot(name)
            {
                let value = self.stack[self.frame.base + at].clone();
                this.states.borrow_mut()[slot].progress.cache = Some(value);
            }
        }
    }

    /// Lets a base rule read the parameters of the rule that builds on it, in whose frame the
    /// code runs.
    fn lend_params(&mut self, rule: &Rule, parent: &Rule, this: &Instance) {
        for (at, param) in params(rule).iter().enumerate() {
            let name = param.name.name;
            let is_own = params(parent).iter().any(|own| own.name.name == name);
            if !is_own && this.slot(name).is_none() {
                let value = self.stack[self.frame.base + at].clone();
                let key = self.string(name);
                this.set_key(key, value, Slot::default(), Origin::default());
            }
        }
    }

    fn find_rule(&mut self, file: FileId, path: &Path) -> Eval<Option<RuleRef>> {
        Ok(match self.declared_value(file, path)? {
            Some(Value::Func(func)) => func.body.downcast_ref::<RuleRef>().copied(),
            _ => None,
        })
    }
}

fn params(rule: &Rule) -> &[Param] {
    rule.params.as_ref().map_or(&[], |params| &params.list)
}
