//! `datetime`

use crate::args::{get, need, text};
use crate::function::{Function, Module};
use crate::host::Host;
use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use kcl_value::{CallArgs, Fault, Result, Value};
use std::fmt::Write as _;

pub(super) const MODULE: Module = Module {
    name: "datetime",
    functions: &[
        Function::new("ticks", |host, _| Ok(Value::Float(host.system().now().as_secs() as f64))),
        Function::new("date", |host, _| written(&local_now(host)?, DATE)),
        Function::new("now", now),
        Function::new("today", |host, _| written(&local_now(host)?, "%Y-%m-%d %H:%M:%S.%s")),
        Function::new("validate", validate),
        Function::new("is_rfc3339", |_, args| {
            let date = text(need(args, 0, "date", "is_rfc3339")?);
            Ok(Value::Bool(DateTime::parse_from_rfc3339(date).is_ok()))
        }),
        Function::new("is_iso8601", |_, args| {
            let date = text(need(args, 0, "date", "is_iso8601")?);
            let valid = DateTime::parse_from_rfc3339(date).is_ok() || is_duration(date);
            Ok(Value::Bool(valid))
        }),
    ],
    constants: &[],
};

const DATE: &str = "%Y-%m-%d %H:%M:%S";

fn now(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let format = get(args, 0, "format").map_or("%a %b %d %H:%M:%S %Y", text);
    let time = match get(args, 1, "ticks") {
        Some(ticks) => {
            let seconds = match ticks {
                Value::Int(seconds) => *seconds as f64,
                Value::Float(seconds) => *seconds,
                _ => 0.0,
            };
            let whole = seconds.floor();
            let nanos = ((seconds - whole) * 1e9).round() as i64;
            let time =
                if whole.abs() < i64::MAX as f64 { local(host, whole as i64, nanos) } else { None };
            time.ok_or_else(|| {
                Fault::new(format!("now() got an out-of-range 'ticks' value: {seconds}"))
            })?
        }
        None => local_now(host)?,
    };
    written(&time, format)
}

fn local_now(host: &dyn Host) -> Result<DateTime<FixedOffset>> {
    let now = host.system().now();
    local(host, now.as_secs() as i64, i64::from(now.subsec_nanos()))
        .ok_or_else(|| Fault::new("the clock shows no time that can be written"))
}

fn local(host: &dyn Host, seconds: i64, nanos: i64) -> Option<DateTime<FixedOffset>> {
    let (seconds, nanos) = (seconds.checked_add(nanos / 1_000_000_000)?, nanos % 1_000_000_000);
    let offset = FixedOffset::east_opt(host.system().utc_offset_seconds())?;
    let time = DateTime::<Utc>::from_timestamp(seconds, nanos as u32)?;
    Some(time.with_timezone(&offset))
}

fn written(time: &DateTime<FixedOffset>, format: &str) -> Result<Value> {
    let mut out = String::new();
    match write!(out, "{}", time.format(format)) {
        Ok(()) => Ok(Value::str(out)),
        Err(_) => Err(Fault::new("a Display implementation returned an error unexpectedly: Error")),
    }
}

fn validate(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (Some(date), Some(format)) = (get(args, 0, "date"), get(args, 1, "format")) else {
        return Err(Fault::new(format!(
            "validate() takes 2 positional arguments ({} given)",
            args.positional.len()
        )));
    };
    let (date, format) = (text(date), text(format));
    Ok(Value::Bool(
        NaiveDateTime::parse_from_str(date, format).is_ok()
            || NaiveDate::parse_from_str(date, format).is_ok()
            || NaiveTime::parse_from_str(date, format).is_ok(),
    ))
}

/// Whether a text is `P[nY][nM][nW][nD][T[nH][nM][nS]]` with at least one part, and one
/// after the `T`.
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    match rest.split_once('T') {
        Some((days, time)) => {
            (days.is_empty() || are_parts(days, "YMWD")) && are_parts(time, "HMS")
        }
        None => are_parts(rest, "YMWD"),
    }
}

/// Whether a text is one or more numbers, each with a unit, the units in order.
fn are_parts(mut text: &str, mut units: &str) -> bool {
    if text.is_empty() {
        return false;
    }
    while !text.is_empty() {
        let Some(end) = text.find(|c: char| !c.is_ascii_digit() && c != '.') else {
            return false;
        };
        let (number, rest) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let mut rest_chars = rest.chars();
        let unit = rest_chars.next().and_then(|unit| units.find(unit));
        match unit {
            Some(at) if digits(whole) && digits(fraction) => units = &units[at + 1..],
            _ => return false,
        }
        text = rest_chars.as_str();
    }
    true
}
