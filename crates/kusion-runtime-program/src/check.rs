//! The conformance test for programs: what the engine relies on, tried on one object.

use crate::ask::{AskError, Program};
use crate::protocol::{
    ApplyResult, ChangeParams, DryRunResult, HealthResult, IdentifyResult, Object, ReadObject,
    ReadResult, RecoverParams, RecoverResult, SchemaResult, Target, Targets, code,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The object of the test. It must not exist; the test creates, changes and deletes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The name.
    pub name: String,
    /// The attributes to create it with.
    pub attributes: Map<String, Value>,
    /// The attributes to change it to, without replacing it.
    pub changed: Map<String, Value>,
}

/// The result of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static str,
    /// What is wrong; `None` if the rule holds.
    pub problem: Option<String>,
}

/// Tries all rules; the first one that fails ends the test, because the others build on it. What the
/// test created is deleted.
pub async fn check(program: &Program, sample: &Sample) -> Vec<Finding> {
    let mut test = Test { program, sample, findings: Vec::new(), key: None };
    if test.run().await.is_none() && test.key.is_some() {
        let _ = test.change::<Map<String, Value>>("delete", &test.target()).await;
    }
    test.findings
}

struct Test<'a> {
    program: &'a Program,
    sample: &'a Sample,
    findings: Vec<Finding>,
    /// The key of the created object.
    key: Option<String>,
}

type Checked<T> = Result<T, String>;

impl Test<'_> {
    /// Notes the result of a rule; `None` ends the test.
    fn rule<T>(&mut self, rule: &'static str, result: Checked<T>) -> Option<T> {
        let (value, problem) = match result {
            Ok(value) => (Some(value), None),
            Err(problem) => (None, Some(problem)),
        };
        self.findings.push(Finding { rule, problem });
        value
    }

    async fn run(&mut self) -> Option<()> {
        let found = self.schema().await;
        self.rule("`schema` describes the type of the sample", found)?;
        let found = self.identify().await;
        self.rule("`identify` always returns the same id", found)?;
        let found = self.refuses("no-such-method", &json!({})).await;
        self.rule("an unknown method is an error with the code -32601", found)?;
        let found = self.unknown_type().await;
        self.rule("an unknown type is an error", found)?;
        let found = self.is_missing().await;
        self.rule("`read` returns null for an object that does not exist", found)?;
        let found = self.dry_run().await;
        self.rule("`dryRun` creates nothing", found)?;
        let found = self.create().await;
        let created = self.rule("`apply` creates the object", found)?;
        let found = self.reads(&self.sample.attributes, &created).await;
        self.rule("`read` returns what was applied", found)?;
        let found = self.apply(&self.sample.attributes, Some(&created), "check#2").await;
        let found = found.and_then(|it| same_key(&it, &created));
        self.rule("`apply` without a change keeps the object", found)?;
        let found = self.recovers("check#1", &created).await;
        self.rule("`recover` finds what an attempt created", found)?;
        let found = self.health().await;
        self.rule("`health` returns the health of each object", found)?;
        let found = self.apply(&self.sample.changed, Some(&created), "check#3").await;
        let found = found.and_then(|it| same_key(&it, &created));
        self.rule("`apply` changes the object", found)?;
        let found = self.reads(&self.sample.changed, &created).await;
        self.rule("`read` returns what was changed", found)?;
        let found = self.delete().await;
        self.rule("`delete` deletes the object", found)?;
        self.key = None;
        let found = self.change::<Map<String, Value>>("delete", &self.keyed(&created.key)).await;
        self.rule("`delete` of an object that does not exist succeeds", found.map(|_| ()))?;
        let found = self.recovers_nothing().await;
        self.rule("`recover` returns null if the object does not exist", found)
    }

    fn target(&self) -> Target {
        let Sample { type_name, name, .. } = self.sample;
        let (type_name, name) = (type_name.clone(), name.clone());
        Target { type_name, name, key: self.key.clone(), data: None }
    }

    fn keyed(&self, key: &str) -> Target {
        Target { key: Some(key.to_owned()), ..self.target() }
    }

    async fn read<R: DeserializeOwned + Send + 'static>(
        &self,
        method: &'static str,
        params: &impl serde::Serialize,
    ) -> Checked<R> {
        self.program.read(method, params).await.map_err(|it| it.message().to_owned())
    }

    async fn change<R: DeserializeOwned + Send + 'static>(
        &self,
        method: &'static str,
        params: &impl serde::Serialize,
    ) -> Checked<R> {
        self.program.change(method, params).await.map_err(|it| it.message().to_owned())
    }

    async fn schema(&self) -> Checked<()> {
        let found: SchemaResult = self.read("schema", &json!({})).await?;
        let type_name = &self.sample.type_name;
        let schema = found.types.get(type_name);
        let schema = schema.ok_or_else(|| format!("there is no type `{type_name}`"))?;
        for attributes in [&self.sample.attributes, &self.sample.changed] {
            let problems = schema.problems(&Value::Object(attributes.clone()));
            if let Some(problem) = problems.first() {
                return Err(format!("the sample is invalid: {problem}"));
            }
        }
        Ok(())
    }

    async fn identify(&self) -> Checked<()> {
        let first: IdentifyResult = self.read("identify", &json!({})).await?;
        let second: IdentifyResult = self.read("identify", &json!({})).await?;
        if first.id == second.id && !first.id.is_empty() {
            return Ok(());
        }
        Err(format!("the ids are `{}` and `{}`", first.id, second.id))
    }

    async fn refuses(&self, method: &'static str, params: &Value) -> Checked<()> {
        let found: Result<Value, AskError> = self.program.read(method, params).await;
        match found {
            Err(AskError::Refused { code: code::NO_METHOD, .. }) => Ok(()),
            Err(AskError::Refused { code, .. }) => Err(format!("the code is {code}")),
            Err(error) => Err(error.message().to_owned()),
            Ok(_) => Err("it returned a result".to_owned()),
        }
    }

    async fn unknown_type(&self) -> Checked<()> {
        let params = ChangeParams {
            target: Target { type_name: "no-such-type".to_owned(), ..self.target() },
            attributes: Map::new(),
            live: None,
            attempt: None,
        };
        let found: Result<DryRunResult, AskError> = self.program.read("dryRun", &params).await;
        match found {
            Err(AskError::Refused { .. }) => Ok(()),
            Err(error) => Err(error.message().to_owned()),
            Ok(_) => Err("it returned a result".to_owned()),
        }
    }

    async fn read_one(&self) -> Checked<ReadObject> {
        let params = Targets { objects: vec![self.target()] };
        let mut found: ReadResult = self.read("read", &params).await?;
        match (found.objects.pop(), found.objects.len()) {
            (Some(object), 0) => Ok(object),
            _ => Err("it did not return one object".to_owned()),
        }
    }

    async fn is_missing(&self) -> Checked<()> {
        match self.read_one().await? {
            ReadObject::Missing => Ok(()),
            ReadObject::Failed { error } => Err(error),
            ReadObject::Found(_) => Err("the object exists".to_owned()),
        }
    }

    fn params(&self, attributes: &Map<String, Value>, live: Option<&Object>) -> ChangeParams {
        ChangeParams {
            target: Target { data: live.and_then(|it| it.data.clone()), ..self.target() },
            attributes: attributes.clone(),
            live: live.map(|it| it.attributes.clone()),
            attempt: None,
        }
    }

    async fn dry_run(&self) -> Checked<()> {
        let params = self.params(&self.sample.attributes, None);
        let found: DryRunResult = self.read("dryRun", &params).await?;
        contains(&found.attributes, &self.sample.attributes)?;
        self.is_missing().await
    }

    async fn create(&mut self) -> Checked<Object> {
        let created = self.apply(&self.sample.attributes, None, "check#1").await?;
        self.key = Some(created.key.clone());
        Ok(created)
    }

    async fn apply(
        &self,
        attributes: &Map<String, Value>,
        live: Option<&Object>,
        attempt: &str,
    ) -> Checked<Object> {
        let attempt = Some(attempt.to_owned());
        let params = ChangeParams { attempt, ..self.params(attributes, live) };
        let found: ApplyResult = self.change("apply", &params).await?;
        match found.failure {
            Some(failure) => Err(failure),
            None => contains(&found.object.attributes, attributes).map(|()| found.object),
        }
    }

    async fn reads(&self, attributes: &Map<String, Value>, created: &Object) -> Checked<()> {
        match self.read_one().await? {
            ReadObject::Missing => Err("the object does not exist".to_owned()),
            ReadObject::Failed { error } => Err(error),
            ReadObject::Found(found) => {
                contains(&found.attributes, attributes)?;
                same_key(&found, created)
            }
        }
    }

    async fn recovers(&self, attempt: &str, created: &Object) -> Checked<()> {
        let target = Target { key: None, ..self.target() };
        let params = RecoverParams { target, attempt: attempt.to_owned() };
        let found: RecoverResult = self.read("recover", &params).await?;
        let found = found.object.ok_or_else(|| "it returned null".to_owned())?;
        same_key(&found, created)
    }

    async fn recovers_nothing(&self) -> Checked<()> {
        let params = RecoverParams { target: self.target(), attempt: "check#4".to_owned() };
        let found: RecoverResult = self.read("recover", &params).await?;
        found.object.map_or(Ok(()), |_| Err("it returned an object".to_owned()))
    }

    async fn health(&self) -> Checked<()> {
        let params = Targets { objects: vec![self.target()] };
        let found: HealthResult = self.read("health", &params).await?;
        match found.objects.len() {
            1 => Ok(()),
            count => Err(format!("it returned {count} objects instead of 1")),
        }
    }

    async fn delete(&self) -> Checked<()> {
        let _: Map<String, Value> = self.change("delete", &self.target()).await?;
        self.is_missing().await
    }
}

fn same_key(found: &Object, expected: &Object) -> Checked<()> {
    if found.key == expected.key {
        return Ok(());
    }
    Err(format!("the key is `{}` instead of `{}`", found.key, expected.key))
}

fn contains(found: &Map<String, Value>, expected: &Map<String, Value>) -> Checked<()> {
    match expected.iter().find(|(name, value)| found.get(*name) != Some(value)) {
        None => Ok(()),
        Some((name, _)) => Err(format!("the attribute `{name}` differs")),
    }
}
