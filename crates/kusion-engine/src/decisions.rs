//! Decisions about saved plans: lines of a file beside the plan, each authenticated by the key.

use crate::saved::{SavedPlanError, hex};
use kusion_model::PolicyDecision;
use kusion_secret::Sealer;
use serde::{Deserialize, Serialize};

/// What the MAC of a line begins with, so that it is never the MAC of anything else.
const PREFIX: &str = "kusion-decision\n";

/// One line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// The fingerprint of the plan file.
    plan: String,
    decision: PolicyDecision,
    mac: String,
}

/// Writes the line of a decision about the plan file with a fingerprint.
pub fn write_decision(digest: &str, decision: &PolicyDecision, sealer: &Sealer) -> String {
    let (plan, decision) = (digest.to_owned(), decision.clone());
    let mac = mac(&plan, &decision, sealer);
    let mut line = serde_json::to_string(&Line { plan, decision, mac }).unwrap_or_default();
    line.push('\n');
    line
}

/// Reads the decisions about the plan file with a fingerprint. Those about other plans are left
/// out.
///
/// # Errors
///
/// If a line is invalid, or was changed.
pub fn read_decisions(
    text: &str,
    digest: &str,
    sealer: &Sealer,
) -> Result<Vec<PolicyDecision>, SavedPlanError> {
    let mut decisions = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let wrong = || SavedPlanError::Decision { line: at + 1 };
        let line: Line = serde_json::from_str(line).map_err(|_| wrong())?;
        if line.mac != mac(&line.plan, &line.decision, sealer) {
            return Err(wrong());
        }
        if line.plan == digest {
            decisions.push(line.decision);
        }
    }
    Ok(decisions)
}

fn mac(digest: &str, decision: &PolicyDecision, sealer: &Sealer) -> String {
    let text = serde_json::to_string(decision).unwrap_or_default();
    hex(&sealer.plan_mac(format!("{PREFIX}{digest}\n{text}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_count_for_their_plan_and_only_as_they_were_written() {
        let sealer = Sealer::new([7; 32], "test");
        let decision = PolicyDecision {
            role: "sre".to_owned(),
            actor: "ann".to_owned(),
            time: 7,
            reason: String::new(),
        };
        let text = write_decision("d1", &decision, &sealer);
        assert_eq!(read_decisions(&text, "d1", &sealer), Ok(vec![decision]));
        assert_eq!(read_decisions(&text, "d2", &sealer), Ok(Vec::new()));
        for (from, to) in [("sre", "cto"), ("d1", "d2"), ("ann", "bob"), ("\"mac\"", "\"x\"")] {
            let changed = text.replacen(from, to, 1);
            let error = read_decisions(&changed, "d1", &sealer).expect_err("an error");
            assert_eq!(error, SavedPlanError::Decision { line: 1 }, "{changed}");
        }
    }
}
