//! Real providers: start, schemas, configuration, end.

use crate::found::{Folder, launch, program, start, wait_for_end};
use kusion_cty::Value;
use kusion_runtime_terraform::schema::{AttributeKind, Nesting};
use kusion_runtime_terraform::{Pool, PoolKey, Protocol};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use testkit::Suite;

pub(crate) fn add(suite: &mut Suite) {
    for (name, protocol, resource) in [
        ("probe", Protocol::V6, "probe_object"),
        ("legacy", Protocol::V5, "legacy_object"),
        ("time", Protocol::V5, "time_static"),
        ("local", Protocol::V5, "local_file"),
    ] {
        let title = format!("host::schemas_are_read::{name}");
        suite.add_with(title, program(name), move |program| {
            crate::run(async {
                let provider = start(program, &[]).await;
                assert_eq!(provider.protocol(), protocol);
                let schemas = provider.schemas().await.expect("schemas");
                assert!(schemas.resources.contains_key(resource));
                let process = provider.process_id().expect("a process");
                provider.shut_down().await;
                assert!(!provider.is_running());
                wait_for_end(process);
            });
        });
    }
    suite.add_with("host::schemas_have_all_properties", program("probe"), |program| {
        crate::run(check_schema(program));
    });
    suite.add_with("host::a_refused_configuration_hides_secrets", program("probe"), |program| {
        crate::run(check_configuration(program));
    });
    suite.add_with("host::findings_name_the_attribute", program("probe"), |program| {
        crate::run(check_findings(program));
    });
    suite.add_with("host::a_provider_ends_when_it_is_dropped", program("probe"), |program| {
        let process = crate::run(async {
            let provider = start(program, &[]).await;
            provider.process_id().expect("a process")
        });
        wait_for_end(process);
    });
    suite.add_with("host::a_provider_ends_with_a_killed_host", program("probe"), killed_host);
    suite.add_with("host::a_pool_starts_each_configuration_once", program("probe"), |program| {
        crate::run(check_pool(&program));
    });
}

async fn check_schema(program: PathBuf) {
    let provider = start(program, &[]).await;
    let object = provider.resource_schema("probe_object").await.expect("a schema");
    assert_eq!(object.version, 1);
    let attribute = |name: &str| &object.block.attributes[name];
    assert!(attribute("name").is_required && attribute("id").is_computed);
    assert!(attribute("secret").is_sensitive && attribute("write_key").is_write_only);
    assert_eq!(object.block.blocks["disk"].nesting, Nesting::List);
    assert_eq!(object.block.blocks["rule"].nesting, Nesting::Set);
    assert_eq!(object.block.blocks["limits"].nesting, Nesting::Single);
    let nested = provider.resource_schema("probe_nested").await.expect("a schema");
    let AttributeKind::Nested(zones) = &nested.block.attributes["zones"].kind else {
        unreachable!("a nested attribute")
    };
    assert_eq!(zones.nesting, Nesting::Map);
    let error = provider.resource_schema("probe_none").await.expect_err("an error").to_string();
    assert!(error.contains("it has no resource type `probe_none`"), "{error}");
    provider.shut_down().await;
}

async fn check_configuration(program: PathBuf) {
    let provider = start(program, &[]).await;
    let config = |token: &str| Value::map([("folder", "/tmp".into()), ("token", token.into())]);
    let error = provider.configure(&config("refused")).await.expect_err("an error").to_string();
    assert!(error.starts_with("the token is "), "{error}");
    assert!(!error.contains("refused"), "the secret is hidden: {error}");
    provider.configure(&config("fine")).await.expect("a configured provider");
    provider.shut_down().await;
}

async fn check_findings(program: PathBuf) {
    let provider = start(program, &[]).await;
    let schema = provider.resource_schema("probe_object").await.expect("a schema");
    let mut config = schema.block.empty();
    let Value::Map(fields) = &mut config else { unreachable!("an object") };
    fields.insert("name".into(), "invalid".into());
    let error = provider.check_resource("probe_object", &schema, &config).await;
    let error = error.expect_err("an error").to_string();
    assert_eq!(error, "name: invalid name: `invalid` cannot be a name");
    let Value::Map(fields) = &mut config else { unreachable!("an object") };
    fields.insert("name".into(), "odd".into());
    let warnings =
        provider.check_resource("probe_object", &schema, &config).await.expect("warnings");
    assert_eq!(
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["name: odd name: choose another one"]
    );
    provider.shut_down().await;
}

async fn check_pool(program: &std::path::Path) {
    let folder = Folder::new("pool");
    let pool = Pool::default();
    let key = |config: &str| PoolKey {
        address: "kusion/probe".to_owned(),
        program: program.to_owned(),
        config: config.to_owned(),
    };
    let get = async |config: &str| {
        let start = async {
            let provider = launch(program.to_owned(), &[]).start().await?;
            let config = Value::map([("folder", folder.text().into()), ("token", Value::Null)]);
            provider.configure(&config).await?;
            Ok(provider)
        };
        pool.get(&key(config), start).await.expect("a provider")
    };
    let (first, second) = futures::join!(get("a"), get("a"));
    let third = get("b").await;
    assert_eq!(first.process_id(), second.process_id());
    assert_ne!(first.process_id(), third.process_id());
    assert_eq!(pool.len(), 2);
    pool.close().await;
    assert!(pool.is_empty() && !first.is_running() && !third.is_running());
}

/// Starts another process that starts a provider, kills it, and waits for the end of the provider.
fn killed_host(program: PathBuf) {
    let own = std::env::current_exe().expect("this program");
    let mut host = Command::new(own)
        .env("PRETEND", "killed host")
        .env("PROVIDER", program)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut line = String::new();
    let stdout = host.stdout.take().expect("its output");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let provider: i32 = line.trim().parse().expect("a number");
    assert!(crate::found::is_alive(provider));
    host.kill().expect("a signal");
    host.wait().expect("its end");
    wait_for_end(provider);
}

/// Starts a provider, prints the number of its process, and stays.
pub(crate) async fn stay() {
    let program = std::env::var_os("PROVIDER").expect("a program");
    let mut launch = launch(program.into(), &[]);
    launch.environment.retain(|(name, _)| name != "PRETEND");
    let provider = launch.start().await.expect("a provider");
    crate::pretend::say(&provider.process_id().expect("a process").to_string());
    std::future::pending::<()>().await;
}
