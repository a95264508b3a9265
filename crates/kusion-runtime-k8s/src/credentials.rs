//! The credentials of the user of a kubeconfig: they are checked, and read from token files and
//! helper programs.

mod helper;
mod token;

pub(crate) use token::TokenLayer;

use data_encoding::BASE64;
use helper::Helper;
use kube::Config;
use kube::config::{AuthInfo, Kubeconfig};
use secrecy::{ExposeSecret as _, SecretString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use token::{Source, Token};

/// Checks the credentials of a connection, and starts the helper program that provides them, if
/// there is one. Returns what adds a token of a file or program to requests. `user` names the user
/// in messages.
///
/// # Errors
/// The message that says why the credentials cannot be used.
pub(crate) async fn settle(config: &mut Config, user: &str) -> Result<Option<TokenLayer>, String> {
    let found = &mut config.auth_info;
    check(found, user)?;
    // The order of kubectl's libraries: what is first counts.
    let is_known = found.auth_provider.is_some()
        || (found.username.is_some() && found.password.is_some())
        || found.token.is_some();
    let (file, exec) = (found.token_file.take(), found.exec.take());
    if is_known {
        return Ok(None);
    }
    if let Some(file) = file {
        let source = Source::File { path: PathBuf::from(file), user: user.to_owned() };
        let first = source.token().await?;
        return Ok(Some(TokenLayer::new(Arc::new(source), first)));
    }
    let Some(exec) = exec else { return Ok(None) };
    let helper = Helper::new(exec, user);
    let given = helper.run().await?;
    if let (Some(certificate), Some(key)) = (&given.client_certificate_data, &given.client_key_data)
    {
        found.client_certificate_data = Some(BASE64.encode(certificate.as_bytes()));
        let key = BASE64.encode(key.as_bytes());
        found.client_key_data = Some(SecretString::from(key));
    }
    let Some(first) = Token::of(&given, user)? else { return Ok(None) };
    Ok(Some(TokenLayer::new(Arc::new(Source::Helper(Box::new(helper))), first)))
}

/// Checks what the kubeconfig itself says about a user.
fn check(found: &AuthInfo, user: &str) -> Result<(), String> {
    if let Some(token) = &found.token {
        token::header(token.expose_secret(), user)?;
    }
    let Some(provider) = &found.auth_provider else { return Ok(()) };
    if provider.config.contains_key("cmd-path") {
        return Err(format!(
            "{user} has the `auth-provider` `{}` with a program, which is not supported; use `exec`",
            provider.name
        ));
    }
    let tokens = ["id-token", "access-token"];
    for token in tokens.into_iter().filter_map(|name| provider.config.get(name)) {
        token::header(token, user)?;
    }
    Ok(())
}

/// Reads a kubeconfig. Its paths become absolute.
///
/// # Errors
/// It is not a regular file, or not a valid kubeconfig.
pub(crate) fn read(path: &Path) -> Result<Kubeconfig, Box<dyn std::error::Error>> {
    if is_odd(path) {
        return Err("not a regular file".into());
    }
    Ok(Kubeconfig::read_from(path)?)
}

/// Returns the first certificate or key that the clusters and users of a kubeconfig name and that
/// is not a regular file: to read it might never end.
pub(crate) fn odd_file(kubeconfig: &Kubeconfig) -> Option<PathBuf> {
    let clusters = kubeconfig.clusters.iter().filter_map(|it| it.cluster.as_ref());
    let users = kubeconfig.auth_infos.iter().filter_map(|it| it.auth_info.as_ref());
    let authorities = clusters.filter_map(|it| it.certificate_authority.as_ref());
    let files = users.flat_map(|it| [&it.client_certificate, &it.client_key]).flatten();
    authorities.chain(files).map(PathBuf::from).find(|it| is_odd(it))
}

/// Whether a path is something other than a file or a folder. `/dev/null` is an empty file.
fn is_odd(path: &Path) -> bool {
    path != Path::new("/dev/null")
        && std::fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir())
}
