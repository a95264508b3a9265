//! Findings in the forms of other tools.

use crate::support::set;
use kusion_model::{FieldPath, Origin, PolicyException, PolicyFinding, PolicyLevel, ResourceId};
use kusion_policy::Moment;
use kusion_policy::render::{Located, junit, policy_report, sarif};
use serde_json::json;

fn finding(policy: &str, level: PolicyLevel) -> PolicyFinding {
    PolicyFinding {
        policy: policy.to_owned(),
        level,
        message: "image `a<b` has no digest".to_owned(),
        resource: Some(ResourceId::new("apps/v1:Deployment:shop:web")),
        path: FieldPath::default().key("spec").key("image"),
        origin: Some(Origin::new("main.k", 7, 3)),
        fix: "add a digest".to_owned(),
        role: String::new(),
        exception: None,
    }
}

fn excepted() -> PolicyFinding {
    let exception = PolicyException {
        owner: "ann".to_owned(),
        reason: "old image".to_owned(),
        expires: "2026-12-01".to_owned(),
    };
    PolicyFinding { exception: Some(exception), ..finding("pack/b", PolicyLevel::Deny) }
}

#[test]
fn sarif_has_rules_lines_and_suppressions() {
    let set = set(
        &json!({"a": {"level": "warn", "title": "pin images"}, "pack": {"b": {"level": "deny"}}}),
    );
    let (first, second) = (finding("a", PolicyLevel::Warn), excepted());
    let all = [&first, &second].map(|finding| Located { stack: "shop/web", finding });
    let log = sarif("1.0", &set.policies, &all);
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"][0]["shortDescription"]["text"], "pin images");
    let result = &run["results"][0];
    assert_eq!(result["level"], "warning");
    assert_eq!(result["message"]["text"], "image `a<b` has no digest; add a digest");
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "main.k");
    assert_eq!(location["region"], json!({"startLine": 7, "startColumn": 3}));
    assert_eq!(run["results"][1]["suppressions"][0]["justification"], "old image");
}

#[test]
fn junit_has_a_test_for_each_policy_and_escapes_texts() {
    let set = set(
        &json!({"a": {"level": "deny"}, "pack": {"b": {"level": "deny"}, "c": {"level": "warn"}}}),
    );
    let (first, second) = (finding("a", PolicyLevel::Deny), excepted());
    let all = [&first, &second].map(|finding| Located { stack: "shop/web", finding });
    let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites tests=\"3\" failures=\"1\">
  <testsuite name=\"shop/web\" tests=\"3\" failures=\"1\">
    <testcase classname=\"a\" name=\"a\">
      <failure message=\"a\" type=\"deny\">apps/v1:Deployment:shop:web: image `a&lt;b` has no digest (main.k:7)</failure>
    </testcase>
    <testcase classname=\"pack/b\" name=\"pack/b\">
      <system-out>apps/v1:Deployment:shop:web: image `a&lt;b` has no digest (main.k:7)</system-out>
    </testcase>
    <testcase classname=\"pack/c\" name=\"pack/c\"/>
  </testsuite>
</testsuites>
";
    assert_eq!(junit(&set.policies, &["shop/web"], &all), expected);
}

#[test]
fn policy_reports_have_one_object_for_each_stack() {
    let (first, second) = (finding("a", PolicyLevel::Deny), excepted());
    let all = [&first, &second].map(|finding| Located { stack: "shop/web", finding });
    let now = Moment { millis: 5000 };
    let list = policy_report(now, &["shop/web", "shop/db"], &all);
    let report = &list["items"][0];
    assert_eq!(report["metadata"]["name"], "kusion-shop-web");
    let summary = json!({"pass": 0, "fail": 1, "warn": 0, "error": 0, "skip": 1});
    assert_eq!(report["summary"], summary);
    let object =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"});
    assert_eq!(report["results"][0]["resources"], json!([object]));
    assert_eq!(report["results"][1]["policy"], "pack");
    assert_eq!(report["results"][1]["rule"], "b");
    assert_eq!(list["items"][1]["results"], json!([]));
}
