//! `OpenAPI` 2 and 3.

use crate::ImportError;
use crate::json_schema::Reader;
use crate::model::Model;
use base_text::Span;
use kcl_data::Node;

/// Reads the schemas of documents.
pub(crate) fn read(documents: &[Node], text: &str, model: &mut Model) -> Result<(), ImportError> {
    for document in documents {
        let mut reader = Reader::new(document, model);
        let schemas = document.get("components").and_then(|it| it.get("schemas"));
        let definitions = document.get("definitions");
        if schemas.is_none() && definitions.is_none() {
            let message = "there are no schemas: expected `components.schemas` or `definitions`";
            return Err(ImportError::at(text, Span::empty(document.span.start), message));
        }
        reader.define("#/components/schemas/", schemas);
        reader.define("#/definitions/", definitions);
        reader.write();
    }
    Ok(())
}
