//! From the output of a program to resources.

use kusion_model::{Origins, Spec};
use serde_json::{Deserializer, Value};

/// Reads the documents of an output, one JSON value after the other.
pub(crate) fn read_output(text: &str) -> Result<(Spec, Origins), String> {
    let mut spec = Spec::default();
    for document in Deserializer::from_str(text).into_iter::<Value>() {
        let document = document.map_err(|error| error.to_string())?;
        let part: Spec = serde_json::from_value(document).map_err(|error| error.to_string())?;
        spec.resources.extend(part.resources);
    }
    Ok((spec, Origins::default()))
}
