//! Schemas, which differ between the versions: an attribute has a nested type in version 6 only, and
//! other field numbers.

/// Defines the messages of one version; the fields are those of an attribute beyond the common ones.
macro_rules! messages {
    ($(#[$fields:meta] $name:ident: $kind:ty,)*) => {
        use super::super::messages::{Diagnostic, ServerCapabilities};
        use bytes::Bytes;
        use prost::Message;
        use std::collections::HashMap;

        #[derive(Clone, PartialEq, Message)]
        pub(crate) struct Response {
            #[prost(message, optional, tag = "1")]
            pub(crate) provider: Option<Schema>,
            #[prost(map = "string, message", tag = "2")]
            pub(crate) resource_schemas: HashMap<String, Schema>,
            #[prost(map = "string, message", tag = "3")]
            pub(crate) data_source_schemas: HashMap<String, Schema>,
            #[prost(message, repeated, tag = "4")]
            pub(crate) diagnostics: Vec<Diagnostic>,
            #[prost(message, optional, tag = "6")]
            pub(crate) server_capabilities: Option<ServerCapabilities>,
        }

        #[derive(Clone, PartialEq, Message)]
        pub(crate) struct Schema {
            #[prost(int64, tag = "1")]
            pub(crate) version: i64,
            #[prost(message, optional, tag = "2")]
            pub(crate) block: Option<Block>,
        }

        #[derive(Clone, PartialEq, Message)]
        pub(crate) struct Block {
            #[prost(message, repeated, tag = "2")]
            pub(crate) attributes: Vec<Attribute>,
            #[prost(message, repeated, tag = "3")]
            pub(crate) nested: Vec<NestedBlock>,
            #[prost(string, tag = "4")]
            pub(crate) description: String,
            #[prost(bool, tag = "6")]
            pub(crate) deprecated: bool,
        }

        #[derive(Clone, PartialEq, Message)]
        pub(crate) struct NestedBlock {
            #[prost(string, tag = "1")]
            pub(crate) type_name: String,
            #[prost(message, optional, tag = "2")]
            pub(crate) block: Option<Block>,
            #[prost(int32, tag = "3")]
            pub(crate) nesting: i32,
            #[prost(int64, tag = "4")]
            pub(crate) min_items: i64,
            #[prost(int64, tag = "5")]
            pub(crate) max_items: i64,
        }

        #[derive(Clone, PartialEq, Message)]
        pub(crate) struct Attribute {
            #[prost(string, tag = "1")]
            pub(crate) name: String,
            #[prost(bytes = "bytes", tag = "2")]
            pub(crate) r#type: Bytes,
            #[prost(string, tag = "3")]
            pub(crate) description: String,
            #[prost(bool, tag = "4")]
            pub(crate) required: bool,
            #[prost(bool, tag = "5")]
            pub(crate) optional: bool,
            #[prost(bool, tag = "6")]
            pub(crate) computed: bool,
            #[prost(bool, tag = "7")]
            pub(crate) sensitive: bool,
            #[prost(bool, tag = "9")]
            pub(crate) deprecated: bool,
            $(#[$fields] pub(crate) $name: $kind,)*
        }
    };
}

/// Version 5.
pub(crate) mod v5 {
    messages! {
        #[prost(bool, tag = "10")]
        write_only: bool,
    }
}

/// Version 6.
pub(crate) mod v6 {
    messages! {
        #[prost(message, optional, tag = "10")]
        nested_type: Option<Object>,
        #[prost(bool, tag = "11")]
        write_only: bool,
    }

    /// The type of a nested attribute.
    #[derive(Clone, PartialEq, Message)]
    pub(crate) struct Object {
        #[prost(message, repeated, tag = "1")]
        pub(crate) attributes: Vec<Attribute>,
        #[prost(int32, tag = "3")]
        pub(crate) nesting: i32,
    }
}
