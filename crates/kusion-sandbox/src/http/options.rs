//! Options of lists and watches, and their rules.

use super::query::Query;
use crate::api::Selection;
use crate::{Cause, Status};

/// The options of a list or watch.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListOptions {
    pub(crate) labels: String,
    pub(crate) fields: String,
    pub(crate) watch: bool,
    pub(crate) bookmarks: bool,
    pub(crate) initial_events: Option<bool>,
    /// None when not given; `0` means any.
    pub(crate) version: Option<u64>,
    pub(crate) version_match: String,
    pub(crate) timeout: Option<u64>,
    pub(crate) limit: usize,
    pub(crate) token: String,
}

impl ListOptions {
    /// Reads the options of a request.
    pub(crate) fn parse(query: &Query, watch: bool) -> Result<Self, Status> {
        let number = |key: &str| -> Result<Option<u64>, Status> {
            let text = query.get(key);
            if text.is_empty() {
                return Ok(None);
            }
            let parsed = text.parse::<i64>().map_err(|_| {
                Status::bad_request(format!("strconv.ParseInt: parsing \"{text}\": invalid syntax"))
            })?;
            Ok(Some(u64::try_from(parsed).unwrap_or(0)))
        };
        let version = match query.get("resourceVersion") {
            "" => None,
            text => Some(text.parse::<u64>().map_err(|_| {
                let why = format!(
                    "resourceVersion: Invalid value: \"{text}\": strconv.ParseUint: parsing \"{text}\": invalid syntax"
                );
                if watch || query.flag("watch") {
                    Status::unnamed(why)
                } else {
                    Status::bad_request(format!("invalid resource version: {why}"))
                }
            })?),
        };
        let options = Self {
            labels: query.get("labelSelector").to_owned(),
            fields: query.get("fieldSelector").to_owned(),
            watch: watch || query.flag("watch"),
            bookmarks: query.flag("allowWatchBookmarks"),
            initial_events: query.has("sendInitialEvents").then(|| query.flag("sendInitialEvents")),
            version,
            version_match: query.get("resourceVersionMatch").to_owned(),
            timeout: number("timeoutSeconds")?,
            limit: usize::try_from(number("limit")?.unwrap_or(0)).unwrap_or(usize::MAX),
            token: query.get("continue").to_owned(),
        };
        options.check()?;
        Ok(options)
    }

    /// Returns the selectors.
    pub(crate) fn selection(&self) -> Selection<'_> {
        Selection { labels: &self.labels, fields: &self.fields }
    }

    fn check(&self) -> Result<(), Status> {
        let causes = if self.watch { self.watch_causes() } else { self.list_causes() };
        if causes.is_empty() {
            return Ok(());
        }
        Err(Status::invalid("meta.k8s.io", "ListOptions", "", &causes))
    }

    fn watch_causes(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        if self.initial_events.is_some() && self.version_match != "NotOlderThan" {
            causes.push(forbidden(
                "resourceVersionMatch",
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ));
        }
        if self.initial_events.is_none() && !self.version_match.is_empty() {
            causes.push(forbidden(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ));
        }
        causes
    }

    fn list_causes(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        let matching = self.version_match.as_str();
        if self.initial_events.is_some() {
            causes.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
        }
        if matching.is_empty() {
            return causes;
        }
        if self.version.is_none() {
            causes.push(forbidden(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ));
        }
        if !self.token.is_empty() {
            causes.push(forbidden(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
        if !matches!(matching, "Exact" | "NotOlderThan") {
            causes.push(Cause::new(
                "FieldValueNotSupported",
                "resourceVersionMatch",
                format!(
                    "Unsupported value: \"{matching}\": supported values: \"Exact\", \"NotOlderThan\", \"\""
                ),
            ));
        }
        if matching == "Exact" && self.version == Some(0) {
            causes.push(forbidden(
                "resourceVersionMatch",
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            ));
        }
        causes
    }
}

fn forbidden(field: &str, why: &str) -> Cause {
    Cause::new("FieldValueForbidden", field, format!("Forbidden: {why}"))
}
