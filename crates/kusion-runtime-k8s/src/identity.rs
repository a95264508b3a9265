//! The identity of a cluster.

use crate::calls::{Answer, Call, Calls};
use crate::object::uid_of;
use http::StatusCode;
use kusion_model::InfrastructureId;
use kusion_runtime::RuntimeError;
use serde_json::Value;

/// Returns the identity of a cluster: the uid of the namespace `kube-system`. Users who may not
/// read it identify the cluster by its address.
pub(crate) async fn identity(calls: &Calls) -> Result<InfrastructureId, RuntimeError> {
    let name = calls.server().to_owned();
    let call = Call::get("/api/v1/namespaces/kube-system".to_owned());
    let answer = calls
        .send(call)
        .await
        .map_err(|error| RuntimeError::Unavailable(format!("cannot reach the cluster: {error}")))?;
    match answer.status {
        StatusCode::FORBIDDEN => Ok(InfrastructureId::by_address(name)),
        StatusCode::UNAUTHORIZED => Err(RuntimeError::Unavailable(format!(
            "`{name}` rejected the credentials of the kubeconfig (401): {}",
            message(answer)
        ))),
        _ => {
            let answer = answer.success().map_err(|error| {
                RuntimeError::Unavailable(format!("cannot use the cluster `{name}`: {error}"))
            })?;
            let object: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            let not_a_cluster =
                || RuntimeError::Unavailable(format!("`{name}` is not a Kubernetes server"));
            let id = uid_of(&object).ok_or_else(not_a_cluster)?;
            Ok(InfrastructureId { id, name })
        }
    }
}

fn message(answer: Answer) -> String {
    answer.success().err().map(|it| it.to_string()).unwrap_or_default()
}
