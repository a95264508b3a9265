//! The messages of the plugin protocol, as far as this crate uses them, and the names of its calls.
//!
//! Versions 5 and 6 of the protocol have the same messages, except for the attributes of schemas.
//! Field numbers and names are those of the protocol.

pub(crate) mod messages;
pub(crate) mod schemas;

/// A version of the plugin protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Version 5.
    V5,
    /// Version 6, which has nested attributes.
    V6,
}

/// A call to a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Returns all schemas.
    Schema,
    /// Checks the configuration of the provider.
    CheckProvider,
    /// Configures the provider.
    Configure,
    /// Checks the configuration of a resource.
    CheckResource,
    /// Checks the configuration of a data source.
    CheckData,
    /// Brings a recorded state to the current version of its schema.
    Upgrade,
    /// Reads a resource.
    Read,
    /// Plans a change.
    Plan,
    /// Makes a planned change.
    Apply,
    /// Finds a resource by its id.
    Import,
    /// Takes over the state of a resource of another type.
    Move,
    /// Reads a data source.
    ReadData,
    /// Cancels running calls.
    Stop,
}

impl Protocol {
    /// Returns the path of a call.
    pub(crate) fn path(self, call: Call) -> &'static str {
        match (self, call) {
            (Self::V5, Call::Schema) => "/tfplugin5.Provider/GetSchema",
            (Self::V6, Call::Schema) => "/tfplugin6.Provider/GetProviderSchema",
            (Self::V5, Call::CheckProvider) => "/tfplugin5.Provider/PrepareProviderConfig",
            (Self::V6, Call::CheckProvider) => "/tfplugin6.Provider/ValidateProviderConfig",
            (Self::V5, Call::Configure) => "/tfplugin5.Provider/Configure",
            (Self::V6, Call::Configure) => "/tfplugin6.Provider/ConfigureProvider",
            (Self::V5, Call::CheckResource) => "/tfplugin5.Provider/ValidateResourceTypeConfig",
            (Self::V6, Call::CheckResource) => "/tfplugin6.Provider/ValidateResourceConfig",
            (Self::V5, Call::CheckData) => "/tfplugin5.Provider/ValidateDataSourceConfig",
            (Self::V6, Call::CheckData) => "/tfplugin6.Provider/ValidateDataResourceConfig",
            (Self::V5, Call::Upgrade) => "/tfplugin5.Provider/UpgradeResourceState",
            (Self::V6, Call::Upgrade) => "/tfplugin6.Provider/UpgradeResourceState",
            (Self::V5, Call::Read) => "/tfplugin5.Provider/ReadResource",
            (Self::V6, Call::Read) => "/tfplugin6.Provider/ReadResource",
            (Self::V5, Call::Plan) => "/tfplugin5.Provider/PlanResourceChange",
            (Self::V6, Call::Plan) => "/tfplugin6.Provider/PlanResourceChange",
            (Self::V5, Call::Apply) => "/tfplugin5.Provider/ApplyResourceChange",
            (Self::V6, Call::Apply) => "/tfplugin6.Provider/ApplyResourceChange",
            (Self::V5, Call::Import) => "/tfplugin5.Provider/ImportResourceState",
            (Self::V6, Call::Import) => "/tfplugin6.Provider/ImportResourceState",
            (Self::V5, Call::Move) => "/tfplugin5.Provider/MoveResourceState",
            (Self::V6, Call::Move) => "/tfplugin6.Provider/MoveResourceState",
            (Self::V5, Call::ReadData) => "/tfplugin5.Provider/ReadDataSource",
            (Self::V6, Call::ReadData) => "/tfplugin6.Provider/ReadDataSource",
            (Self::V5, Call::Stop) => "/tfplugin5.Provider/Stop",
            (Self::V6, Call::Stop) => "/tfplugin6.Provider/StopProvider",
        }
    }
}

impl Call {
    /// Returns what the call does, for messages: "cannot …".
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Schema => "read its schemas",
            Self::CheckProvider => "check its configuration",
            Self::Configure => "configure it",
            Self::CheckResource => "check a resource",
            Self::CheckData => "check a data source",
            Self::Upgrade => "upgrade a state",
            Self::Read => "read a resource",
            Self::Plan => "plan a change",
            Self::Apply => "apply a change",
            Self::Import => "import a resource",
            Self::Move => "move a resource",
            Self::ReadData => "read a data source",
            Self::Stop => "stop it",
        }
    }
}
