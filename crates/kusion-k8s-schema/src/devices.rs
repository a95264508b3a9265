//! Expressions that choose devices (`selectors` of device classes and claims).

use crate::cel::{Cel, Scope, Special};
use crate::policy::Source;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A list of `selectors`, ready to be evaluated.
#[derive(Debug)]
pub struct DeviceSelectors(Vec<Source>);

impl DeviceSelectors {
    /// Reads the list `selectors`.
    pub fn read(list: &Value) -> Self {
        let list = list.as_array().map_or(&[][..], Vec::as_slice);
        Self(list.iter().filter_map(|it| Source::read(&it["cel"], "expression")).collect())
    }

    /// Returns whether all selectors take a device, an item of `devices` of a `ResourceSlice`.
    ///
    /// # Errors
    /// A selector cannot be evaluated; the message.
    pub fn take(&self, driver: &str, device: &Value) -> Result<bool, String> {
        if self.0.is_empty() {
            return Ok(true);
        }
        let shown = shown(driver, device);
        for (at, selector) in self.0.iter().enumerate() {
            let mut scope = Scope::default().with("device", shown.clone());
            match selector.evaluate(&mut scope) {
                Ok(Cel::Bool(true)) => {}
                Ok(Cel::Bool(false)) => return Ok(false),
                Ok(_) => return Err(format!("selector #{at}: the value is not a boolean")),
                Err(message) => return Err(format!("selector #{at}: {message}")),
            }
        }
        Ok(true)
    }
}

/// Returns the value of an attribute of a device. A name without a domain has that of the driver.
pub fn attribute<'d>(driver: &str, device: &'d Value, name: &str) -> Option<&'d Value> {
    let attributes = &device["attributes"];
    attributes.get(name).or_else(|| match name.split_once('/') {
        Some((domain, short)) if domain == driver => attributes.get(short),
        Some(_) => None,
        None => attributes.get(format!("{driver}/{name}")),
    })
}

/// The variable `device` of expressions.
fn shown<'d>(driver: &str, device: &'d Value) -> Cel<'d> {
    let multiple = device["allowMultipleAllocations"] == true;
    map([
        ("driver", text(driver.to_owned())),
        ("attributes", by_domain(driver, &device["attributes"], attribute_value)),
        ("capacity", by_domain(driver, &device["capacity"], capacity_value)),
        ("allowMultipleAllocations", Cel::Bool(multiple)),
    ])
}

fn text<'d>(text: String) -> Cel<'d> {
    Cel::String(Cow::Owned(text))
}

fn map<'d, const N: usize>(entries: [(&str, Cel<'d>); N]) -> Cel<'d> {
    Cel::Map(entries.into_iter().map(|(key, value)| (text(key.to_owned()), value)).collect())
}

/// Groups entries by the domain of their names.
fn by_domain<'d>(
    driver: &str,
    entries: &'d Value,
    value: fn(&'d Value) -> Option<Cel<'d>>,
) -> Cel<'d> {
    let mut domains: BTreeMap<&str, Vec<(Cel<'d>, Cel<'d>)>> = BTreeMap::new();
    for (name, entry) in entries.as_object().into_iter().flatten() {
        let (domain, short) = name.split_once('/').unwrap_or((driver, name));
        if let Some(value) = value(entry) {
            domains.entry(domain).or_default().push((text(short.to_owned()), value));
        }
    }
    let domains = domains.into_iter().map(|(key, it)| (text(key.to_owned()), Cel::Map(it)));
    Cel::Map(domains.collect())
}

fn attribute_value(entry: &Value) -> Option<Cel<'_>> {
    let (kind, value) = entry.as_object()?.iter().next()?;
    match kind.as_str() {
        "version" => Special::parse("semver", value.as_str()?).map(Cel::Special),
        _ => Some(value.into()),
    }
}

fn capacity_value(entry: &Value) -> Option<Cel<'_>> {
    Special::parse("quantity", entry["value"].as_str()?).map(Cel::Special)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn take(expression: &str) -> Result<bool, String> {
        let device = json!({
            "name": "gpu-0",
            "attributes": {
                "model": {"string": "a100"},
                "cores": {"int": 8},
                "firmware": {"version": "1.10.0"},
                "pci.example.com/root": {"string": "pci0"},
            },
            "capacity": {"memory": {"value": "40Gi"}},
        });
        let selectors = json!([{"cel": {"expression": expression}}]);
        DeviceSelectors::read(&selectors).take("gpu.example.com", &device)
    }

    #[test]
    fn expressions_see_attributes_and_capacity_by_domain() {
        for expression in [
            "device.driver == 'gpu.example.com'",
            "device.attributes['gpu.example.com'].model == 'a100'",
            "device.attributes['gpu.example.com'].cores >= 4",
            "device.attributes['pci.example.com'].root.startsWith('pci')",
            "device.attributes['gpu.example.com'].firmware.isGreaterThan(semver('1.9.0'))",
            "device.capacity['gpu.example.com'].memory.compareTo(quantity('20Gi')) >= 0",
        ] {
            assert_eq!(take(expression), Ok(true), "{expression}");
        }
        assert_eq!(take("device.driver == 'other'"), Ok(false));
        let missing = take("device.attributes['gpu.example.com'].color == 'red'");
        assert!(missing.is_err_and(|it| it.starts_with("selector #0: ")));
    }

    #[test]
    fn attributes_have_a_domain() {
        let device = json!({"attributes": {"a": {"int": 1}, "x.org/b": {"int": 2}}});
        let of = |name| attribute("d", &device, name).map(|it| it["int"].clone());
        assert_eq!((of("a"), of("d/a")), (Some(1.into()), Some(1.into())));
        assert_eq!((of("x.org/b"), of("x.org/a"), of("b")), (Some(2.into()), None, None));
    }
}
