//! Requests and responses.

use bytes::Bytes;
use prost::Message;
use std::collections::HashMap;

/// A value: in one of two encodings.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DynamicValue {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) msgpack: Bytes,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) json: Bytes,
}

/// A finding of a provider. The severity is 1 for an error, 2 for a warning.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Diagnostic {
    #[prost(int32, tag = "1")]
    pub(crate) severity: i32,
    #[prost(string, tag = "2")]
    pub(crate) summary: String,
    #[prost(string, tag = "3")]
    pub(crate) detail: String,
    #[prost(message, optional, tag = "4")]
    pub(crate) attribute: Option<AttributePath>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AttributePath {
    #[prost(message, repeated, tag = "1")]
    pub(crate) steps: Vec<PathStep>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PathStep {
    #[prost(oneof = "Selector", tags = "1, 2, 3")]
    pub(crate) selector: Option<Selector>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Selector {
    #[prost(string, tag = "1")]
    Attribute(String),
    #[prost(string, tag = "2")]
    Key(String),
    #[prost(int64, tag = "3")]
    Index(i64),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RawState {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) json: Bytes,
    #[prost(map = "string, string", tag = "2")]
    pub(crate) flatmap: HashMap<String, String>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct ClientCapabilities {
    #[prost(bool, tag = "1")]
    pub(crate) deferral_allowed: bool,
    #[prost(bool, tag = "2")]
    pub(crate) write_only_attributes_allowed: bool,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct ServerCapabilities {
    #[prost(bool, tag = "1")]
    pub(crate) plan_destroy: bool,
    #[prost(bool, tag = "3")]
    pub(crate) move_resource_state: bool,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Deferred {
    #[prost(int32, tag = "1")]
    pub(crate) reason: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct IdentityData {
    #[prost(message, optional, tag = "1")]
    pub(crate) identity_data: Option<DynamicValue>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Empty {}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StopResponse {
    #[prost(string, tag = "1")]
    pub(crate) error: String,
}

/// Part of what a provider prints. The channel is 1 for standard output, 2 for standard error.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct StdioData {
    #[prost(int32, tag = "1")]
    pub(crate) channel: i32,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) data: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CheckProviderRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) config: Option<DynamicValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CheckProviderResponse {
    /// Only in version 5: the configuration to use.
    #[prost(message, optional, tag = "1")]
    pub(crate) prepared_config: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ConfigureRequest {
    #[prost(string, tag = "1")]
    pub(crate) terraform_version: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) config: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub(crate) client_capabilities: Option<ClientCapabilities>,
}

/// A response that has nothing but findings.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Findings {
    #[prost(message, repeated, tag = "1")]
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The request to check the configuration of a resource or data source.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct CheckRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) config: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub(crate) client_capabilities: Option<ClientCapabilities>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct UpgradeRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(int64, tag = "2")]
    pub(crate) version: i64,
    #[prost(message, optional, tag = "3")]
    pub(crate) raw_state: Option<RawState>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct UpgradeResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) upgraded_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReadRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) current_state: Option<DynamicValue>,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) private: Bytes,
    #[prost(message, optional, tag = "4")]
    pub(crate) provider_meta: Option<DynamicValue>,
    #[prost(message, optional, tag = "5")]
    pub(crate) client_capabilities: Option<ClientCapabilities>,
    #[prost(message, optional, tag = "6")]
    pub(crate) current_identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReadResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) new_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) diagnostics: Vec<Diagnostic>,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) private: Bytes,
    #[prost(message, optional, tag = "4")]
    pub(crate) deferred: Option<Deferred>,
    #[prost(message, optional, tag = "5")]
    pub(crate) new_identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PlanRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub(crate) proposed_new_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "4")]
    pub(crate) config: Option<DynamicValue>,
    #[prost(bytes = "bytes", tag = "5")]
    pub(crate) prior_private: Bytes,
    #[prost(message, optional, tag = "6")]
    pub(crate) provider_meta: Option<DynamicValue>,
    #[prost(message, optional, tag = "7")]
    pub(crate) client_capabilities: Option<ClientCapabilities>,
    #[prost(message, optional, tag = "8")]
    pub(crate) prior_identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PlanResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) planned_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) requires_replace: Vec<AttributePath>,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) planned_private: Bytes,
    #[prost(message, repeated, tag = "4")]
    pub(crate) diagnostics: Vec<Diagnostic>,
    #[prost(bool, tag = "5")]
    pub(crate) legacy_type_system: bool,
    #[prost(message, optional, tag = "6")]
    pub(crate) deferred: Option<Deferred>,
    #[prost(message, optional, tag = "7")]
    pub(crate) planned_identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ApplyRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub(crate) planned_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "4")]
    pub(crate) config: Option<DynamicValue>,
    #[prost(bytes = "bytes", tag = "5")]
    pub(crate) planned_private: Bytes,
    #[prost(message, optional, tag = "6")]
    pub(crate) provider_meta: Option<DynamicValue>,
    #[prost(message, optional, tag = "7")]
    pub(crate) planned_identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ApplyResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) new_state: Option<DynamicValue>,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) private: Bytes,
    #[prost(message, repeated, tag = "3")]
    pub(crate) diagnostics: Vec<Diagnostic>,
    #[prost(bool, tag = "4")]
    pub(crate) legacy_type_system: bool,
    #[prost(message, optional, tag = "5")]
    pub(crate) new_identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImportRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(string, tag = "2")]
    pub(crate) id: String,
    #[prost(message, optional, tag = "3")]
    pub(crate) client_capabilities: Option<ClientCapabilities>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImportedResource {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) state: Option<DynamicValue>,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) private: Bytes,
    #[prost(message, optional, tag = "4")]
    pub(crate) identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImportResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) imported_resources: Vec<ImportedResource>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) diagnostics: Vec<Diagnostic>,
    #[prost(message, optional, tag = "3")]
    pub(crate) deferred: Option<Deferred>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MoveRequest {
    #[prost(string, tag = "1")]
    pub(crate) source_provider_address: String,
    #[prost(string, tag = "2")]
    pub(crate) source_type_name: String,
    #[prost(int64, tag = "3")]
    pub(crate) source_schema_version: i64,
    #[prost(message, optional, tag = "4")]
    pub(crate) source_state: Option<RawState>,
    #[prost(string, tag = "5")]
    pub(crate) target_type_name: String,
    #[prost(bytes = "bytes", tag = "6")]
    pub(crate) source_private: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MoveResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) target_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) diagnostics: Vec<Diagnostic>,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) target_private: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReadDataRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) config: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub(crate) provider_meta: Option<DynamicValue>,
    #[prost(message, optional, tag = "4")]
    pub(crate) client_capabilities: Option<ClientCapabilities>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReadDataResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) diagnostics: Vec<Diagnostic>,
    #[prost(message, optional, tag = "3")]
    pub(crate) deferred: Option<Deferred>,
}
