//! The calls of the protocol.

use super::values::{Applied, ApplyInput, Imported, MoveInput, PlanInput, Planned, ReadResult};
use super::{CAPABILITIES, Provider, TERRAFORM_VERSION};
use crate::diagnostic::{Diagnostic, path, warnings};
use crate::error::ProviderError;
use crate::schema::Schema;
use crate::wire::messages::{
    self, ApplyRequest, ApplyResponse, CheckProviderRequest, CheckProviderResponse, CheckRequest,
    ConfigureRequest, DynamicValue, Findings, ImportRequest, ImportResponse, MoveRequest,
    MoveResponse, PlanRequest, PlanResponse, RawState, ReadDataRequest, ReadDataResponse,
    ReadRequest, ReadResponse, UpgradeRequest, UpgradeResponse,
};
use crate::wire::{Call, Protocol};
use bytes::Bytes;
use kusion_cty::{Type, Value, json, msgpack};
use std::sync::Arc;

/// Returns null, which stands for no metadata of the module: providers want to see it.
fn no_meta() -> DynamicValue {
    DynamicValue { msgpack: Bytes::from_static(&[0xc0]), json: Bytes::new() }
}

impl Provider {
    /// Returns the schema of a resource type.
    pub async fn resource_schema(&self, type_name: &str) -> Result<Arc<Schema>, ProviderError> {
        let schemas = self.schemas().await?;
        schemas.resources.get(type_name).cloned().ok_or_else(|| ProviderError::Failed {
            provider: self.name().to_owned(),
            call: Call::Schema,
            message: format!("it has no resource type `{type_name}`"),
        })
    }

    /// Returns the schema of a data source.
    pub async fn data_schema(&self, type_name: &str) -> Result<Arc<Schema>, ProviderError> {
        let schemas = self.schemas().await?;
        schemas.data_sources.get(type_name).cloned().ok_or_else(|| ProviderError::Failed {
            provider: self.name().to_owned(),
            call: Call::Schema,
            message: format!("it has no data source `{type_name}`"),
        })
    }

    /// Checks its configuration and configures it. Returns warnings.
    pub async fn configure(&self, config: &Value) -> Result<Vec<Diagnostic>, ProviderError> {
        let ty = self.schemas().await?.provider.ty.clone();
        self.learn(config, &self.schemas().await?.provider.clone());
        let call = Call::CheckProvider;
        let config = self.encode(call, config, &ty)?;
        let request = CheckProviderRequest { config: Some(config.clone()) };
        let checked: CheckProviderResponse = self.ask(call, request).await?;
        let mut found = self.accepted(checked.diagnostics)?;
        let is_prepared = self.protocol() == Protocol::V5;
        let config = checked.prepared_config.filter(|_| is_prepared).unwrap_or(config);
        let request = ConfigureRequest {
            terraform_version: TERRAFORM_VERSION.to_owned(),
            config: Some(config),
            client_capabilities: Some(CAPABILITIES),
        };
        let configured: Findings = self.ask(Call::Configure, request).await?;
        found.extend(self.accepted(configured.diagnostics)?);
        Ok(found)
    }

    /// Checks the configuration of a resource. Returns warnings.
    pub async fn check_resource(
        &self,
        type_name: &str,
        schema: &Schema,
        config: &Value,
    ) -> Result<Vec<Diagnostic>, ProviderError> {
        self.check(Call::CheckResource, type_name, schema, config).await
    }

    /// Checks the configuration of a data source. Returns warnings.
    pub async fn check_data(
        &self,
        type_name: &str,
        schema: &Schema,
        config: &Value,
    ) -> Result<Vec<Diagnostic>, ProviderError> {
        self.check(Call::CheckData, type_name, schema, config).await
    }

    async fn check(
        &self,
        call: Call,
        type_name: &str,
        schema: &Schema,
        config: &Value,
    ) -> Result<Vec<Diagnostic>, ProviderError> {
        self.learn(config, schema);
        let request = CheckRequest {
            type_name: type_name.to_owned(),
            config: Some(self.encode(call, config, &schema.ty)?),
            // Data sources have no such field, and ignore it.
            client_capabilities: Some(CAPABILITIES),
        };
        let response: Findings = self.ask(call, request).await?;
        self.accepted(response.diagnostics)
    }

    /// Brings a recorded state, as JSON, to the current version of its schema.
    pub async fn upgrade(
        &self,
        type_name: &str,
        schema: &Schema,
        version: i64,
        state: &str,
    ) -> Result<Value, ProviderError> {
        let json = Bytes::copy_from_slice(state.as_bytes());
        let request = UpgradeRequest {
            type_name: type_name.to_owned(),
            version,
            raw_state: Some(RawState { json, ..RawState::default() }),
        };
        let response: UpgradeResponse = self.ask(Call::Upgrade, request).await?;
        self.accepted(response.diagnostics)?;
        self.state(Call::Upgrade, response.upgraded_state.as_ref(), schema)
    }

    /// Reads a resource.
    pub async fn read(
        &self,
        type_name: &str,
        schema: &Schema,
        state: &Value,
        private: &Bytes,
    ) -> Result<ReadResult, ProviderError> {
        self.learn(state, schema);
        let call = Call::Read;
        let request = ReadRequest {
            type_name: type_name.to_owned(),
            current_state: Some(self.encode(call, state, &schema.ty)?),
            private: private.clone(),
            provider_meta: Some(no_meta()),
            client_capabilities: Some(CAPABILITIES),
            current_identity: None,
        };
        let response: ReadResponse = self.ask(call, request).await?;
        let warnings = self.accepted(response.diagnostics)?;
        self.refuse_deferred(call, response.deferred)?;
        let state = self.state(call, response.new_state.as_ref(), schema)?;
        Ok(ReadResult { state, private: response.private, warnings })
    }

    /// Plans a change.
    pub async fn plan(&self, input: PlanInput<'_>) -> Result<Planned, ProviderError> {
        let PlanInput { type_name, schema, prior, proposed, config, private } = input;
        self.learn(config, schema);
        let call = Call::Plan;
        let request = PlanRequest {
            type_name: type_name.to_owned(),
            prior_state: Some(self.encode(call, prior, &schema.ty)?),
            proposed_new_state: Some(self.encode(call, proposed, &schema.ty)?),
            config: Some(self.encode(call, config, &schema.ty)?),
            prior_private: private.clone(),
            provider_meta: Some(no_meta()),
            client_capabilities: Some(CAPABILITIES),
            prior_identity: None,
        };
        let response: PlanResponse = self.ask(call, request).await?;
        let warnings = self.accepted(response.diagnostics)?;
        self.refuse_deferred(call, response.deferred)?;
        let state = self.decode(call, response.planned_state.as_ref(), &schema.ty)?;
        if config.is_null() && !state.is_null() {
            return Err(self.invalid(call, "it plans to keep a resource that is to be deleted"));
        }
        self.learn(&state, schema);
        Ok(Planned {
            state,
            requires_replace: response.requires_replace.into_iter().map(path).collect(),
            private: response.planned_private,
            is_legacy: response.legacy_type_system,
            warnings,
        })
    }

    /// Makes a planned change.
    pub async fn apply(&self, input: ApplyInput<'_>) -> Result<Applied, ProviderError> {
        let ApplyInput { type_name, schema, prior, planned, config, private } = input;
        self.learn(config, schema);
        let call = Call::Apply;
        let request = ApplyRequest {
            type_name: type_name.to_owned(),
            prior_state: Some(self.encode(call, prior, &schema.ty)?),
            planned_state: Some(self.encode(call, planned, &schema.ty)?),
            config: Some(self.encode(call, config, &schema.ty)?),
            planned_private: private.clone(),
            provider_meta: Some(no_meta()),
            planned_identity: None,
        };
        let response: ApplyResponse = self.call(call, request, self.limits.apply).await?;
        let findings: Vec<Diagnostic> = response.diagnostics.into_iter().map(Into::into).collect();
        let state = self.decode(call, response.new_state.as_ref(), &schema.ty)?;
        self.learn(&state, schema);
        Ok(Applied {
            state,
            private: response.private,
            is_legacy: response.legacy_type_system,
            findings: self.hidden(findings),
        })
    }

    /// Finds a resource by its id. Some providers return several resources.
    pub async fn import(&self, type_name: &str, id: &str) -> Result<Vec<Imported>, ProviderError> {
        let call = Call::Import;
        let request = ImportRequest {
            type_name: type_name.to_owned(),
            id: id.to_owned(),
            client_capabilities: Some(CAPABILITIES),
        };
        let response: ImportResponse = self.ask(call, request).await?;
        self.accepted(response.diagnostics)?;
        self.refuse_deferred(call, response.deferred)?;
        let mut found = Vec::with_capacity(response.imported_resources.len());
        for it in response.imported_resources {
            let schema = self.resource_schema(&it.type_name).await?;
            let state = self.state(call, it.state.as_ref(), &schema)?;
            found.push(Imported { type_name: it.type_name, state, private: it.private });
        }
        Ok(found)
    }

    /// Takes over the state of a resource of another type.
    pub async fn move_state(&self, input: MoveInput<'_>) -> Result<(Value, Bytes), ProviderError> {
        let schema = self.resource_schema(input.type_name).await?;
        let json = Bytes::copy_from_slice(input.source_state.as_bytes());
        let request = MoveRequest {
            source_provider_address: input.source_provider.to_owned(),
            source_type_name: input.source_type.to_owned(),
            source_schema_version: input.source_version,
            source_state: Some(RawState { json, ..RawState::default() }),
            target_type_name: input.type_name.to_owned(),
            source_private: input.source_private.clone(),
        };
        let response: MoveResponse = self.ask(Call::Move, request).await?;
        self.accepted(response.diagnostics)?;
        let state = self.state(Call::Move, response.target_state.as_ref(), &schema)?;
        Ok((state, response.target_private))
    }

    /// Reads a data source.
    pub async fn read_data(
        &self,
        type_name: &str,
        schema: &Schema,
        config: &Value,
    ) -> Result<(Value, Vec<Diagnostic>), ProviderError> {
        let call = Call::ReadData;
        let request = ReadDataRequest {
            type_name: type_name.to_owned(),
            config: Some(self.encode(call, config, &schema.ty)?),
            provider_meta: Some(no_meta()),
            client_capabilities: Some(CAPABILITIES),
        };
        let response: ReadDataResponse = self.ask(call, request).await?;
        self.refuse_deferred(call, response.deferred)?;
        let warnings = self.accepted(response.diagnostics)?;
        let state = self.state(call, response.state.as_ref(), schema)?;
        Ok((state, warnings))
    }

    /// A provider may put an answer off only if we say that we understand that.
    fn refuse_deferred(
        &self,
        call: Call,
        deferred: Option<messages::Deferred>,
    ) -> Result<(), ProviderError> {
        match deferred {
            None => Ok(()),
            Some(_) => Err(self.invalid(call, "it defers the answer, which was not allowed")),
        }
    }

    fn accepted(&self, found: Vec<messages::Diagnostic>) -> Result<Vec<Diagnostic>, ProviderError> {
        match warnings(found) {
            Ok(found) => Ok(self.hidden(found)),
            Err(ProviderError::Refused(found)) => Err(ProviderError::Refused(self.hidden(found))),
            Err(error) => Err(error),
        }
    }

    /// Learns the secrets of a value, so that no message shows them.
    fn learn(&self, value: &Value, schema: &Schema) {
        let secrets = schema.secrets(value);
        let plain: Vec<serde_json::Value> = secrets
            .iter()
            .filter_map(|path| path.find(value))
            .filter(|it| it.is_wholly_known())
            .map(|it| kusion_cty::convert::to_plain(it, &serde_json::Value::Null))
            .collect();
        if !plain.is_empty() {
            self.redactor.learn(&self.name, &plain);
        }
    }

    fn encode(&self, call: Call, value: &Value, ty: &Type) -> Result<DynamicValue, ProviderError> {
        let bytes = msgpack::encode(value, ty);
        let bytes = bytes.map_err(|error| ProviderError::Failed {
            provider: self.name().to_owned(),
            call,
            message: self.redactor.redact(&error.to_string()).into_owned(),
        })?;
        Ok(DynamicValue { msgpack: bytes.into(), json: Bytes::new() })
    }

    /// Decodes a value. No value at all is null.
    fn decode(
        &self,
        call: Call,
        value: Option<&DynamicValue>,
        ty: &Type,
    ) -> Result<Value, ProviderError> {
        let decoded = match value {
            Some(value) if !value.msgpack.is_empty() => msgpack::decode(&value.msgpack, ty),
            Some(value) if !value.json.is_empty() => json::decode(&value.json, ty),
            _ => return Ok(Value::Null),
        };
        decoded.map_err(|error| self.invalid(call, &error.to_string()))
    }

    /// Decodes a state, which has no unknown parts.
    fn state(
        &self,
        call: Call,
        value: Option<&DynamicValue>,
        schema: &Schema,
    ) -> Result<Value, ProviderError> {
        let state = self.decode(call, value, &schema.ty)?;
        if let Some(path) = state.unknown_paths(&schema.ty).first() {
            return Err(self.invalid(call, &format!("`{path}` is still unknown")));
        }
        self.learn(&state, schema);
        Ok(state)
    }
}
