//! Installs providers from archives, network mirrors and registries, which are played on this machine.

use crate::found::Folder;
use crate::run;
use kusion_runtime_terraform::ProviderAddress;
use kusion_runtime_terraform::install::{
    Constraints, Installer, Lock, LockPolicy, Mirror, ProviderRequirement, Remote, Verified,
    archive_hash, platform,
};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use testkit::Suite;

pub(crate) fn add(suite: &mut Suite) {
    let tests: &[(&str, fn())] = &[
        ("an_archive_of_a_folder_is_installed", || run(packed())),
        ("a_network_mirror_is_asked", || run(mirror())),
        ("a_registry_is_asked_if_the_user_allows_it", || run(registry())),
        ("bad_answers_install_nothing", || run(bad_answers())),
    ];
    for (name, test) in tests {
        suite.add(*name, *test);
    }
}

/// Answers requests by path, for as long as the test runs. Returns the URL.
fn serve(answers: BTreeMap<String, Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            lines.find(String::is_empty);
            let path = first.split(' ').nth(1).unwrap_or_default();
            let answer = answers.get(path);
            let status = if answer.is_some() { "200 OK" } else { "404 Not Found" };
            let body = answer.cloned().unwrap_or_default();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let mut out = &stream;
            let _ = out.write_all(head.as_bytes()).and_then(|()| out.write_all(&body));
        }
    });
    url
}

struct World {
    folder: Folder,
    address: ProviderAddress,
    lock: Lock,
}

impl World {
    fn new(name: &str) -> Self {
        let address = ProviderAddress::parse("registry.acme.dev/acme/cloud").expect("an address");
        Self { folder: Folder::new(name), address, lock: Lock::default() }
    }

    /// Writes an archive with a program.
    fn archive(&self, file: &str) -> PathBuf {
        let path = self.folder.0.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let mut archive = zip::ZipWriter::new(fs::File::create(&path).expect("a file"));
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file("terraform-provider-cloud_v1", options).expect("an entry");
        archive.write_all(b"program").expect("a text");
        archive.finish().expect("an archive");
        path
    }

    fn target(&self) -> Mirror {
        Mirror(self.folder.0.join("installed"))
    }

    async fn install(&mut self, remote: Option<&Remote>) -> Result<(String, bool), String> {
        let target = self.target();
        let mirrors = [Mirror(self.folder.0.join("mirror")), target.clone()];
        let verified = Verified::default();
        let installer =
            Installer { mirrors: &mirrors, remote, target: &target, verified: &verified };
        let constraints = Constraints::parse("~> 1.0").expect("constraints");
        let requirement = ProviderRequirement { address: self.address.clone(), constraints };
        let done = installer.install(&mut self.lock, &requirement, LockPolicy::default()).await?;
        Ok((done.version, done.source.is_some()))
    }

    /// Returns whether the program was installed, and nothing else is left.
    fn is_installed(&self, version: &str) -> bool {
        let folder = self.target().folder_for(&self.address, version);
        let above = folder.parent().expect("a folder").to_owned();
        let count = |folder: &Path| fs::read_dir(folder).map_or(0, Iterator::count);
        count(&above) == 1 && folder.join("terraform-provider-cloud_v1").is_file()
    }

    fn hashes(&self) -> Vec<String> {
        self.lock.get(&self.address).map(|it| it.hashes.clone()).unwrap_or_default()
    }
}

async fn packed() {
    let mut world = World::new("packed");
    let file = format!("terraform-provider-cloud_1.4.0_{}.zip", platform());
    let archive = world.archive(&format!("mirror/{}/{file}", world.address));
    world.archive(&format!("mirror/{}/{}", world.address, file.replace("1.4.0", "2.0.0")));
    assert_eq!(world.install(None).await, Ok(("1.4.0".to_owned(), true)));
    assert!(world.is_installed("1.4.0"));
    assert_eq!(world.hashes().len(), 2);
    assert!(world.hashes().contains(&archive_hash(&archive).expect("a hash")));
    assert_eq!(world.install(None).await, Ok(("1.4.0".to_owned(), false)));
    assert!(archive.exists(), "the archive of the user stays");
}

fn answers(pairs: &[(&str, String)]) -> BTreeMap<String, Vec<u8>> {
    pairs.iter().map(|(path, text)| ((*path).to_owned(), text.clone().into_bytes())).collect()
}

async fn mirror() {
    let mut world = World::new("mirror");
    let archive = world.archive("a.zip");
    let hash = archive_hash(&archive).expect("a hash");
    let document = format!(
        r#"{{"archives": {{"{}": {{"url": "files/a.zip", "hashes": ["{hash}"]}}}}}}"#,
        platform()
    );
    let base = "/mirror/registry.acme.dev/acme/cloud";
    let mut all = answers(&[
        (
            &format!("{base}/index.json"),
            r#"{"versions": {"1.0.0": {}, "1.2.0": {}, "2.0.0": {}}}"#.to_owned(),
        ),
        (&format!("{base}/1.2.0.json"), document),
    ]);
    all.insert(format!("{base}/files/a.zip"), fs::read(&archive).expect("a file"));
    let remote = Remote { mirror: Some(format!("{}mirror", serve(all))), ..Remote::default() };
    let error = world.install(None).await.expect_err("an error");
    assert!(error.contains("no version of `registry.acme.dev/acme/cloud` is `~> 1.0`"), "{error}");
    assert_eq!(world.install(Some(&remote)).await, Ok(("1.2.0".to_owned(), true)));
    assert!(world.is_installed("1.2.0"));
    assert!(world.hashes().contains(&hash));
    assert_eq!(world.install(Some(&remote)).await, Ok(("1.2.0".to_owned(), false)));
}

async fn registry() {
    let mut world = World::new("registry");
    let archive = world.archive("a.zip");
    let sum = archive_hash(&archive).expect("a hash").replace("zh:", "");
    let (system, processor) =
        platform().split_once('_').map(|(a, b)| (a.to_owned(), b.to_owned())).expect("two parts");
    let base = "/v1/providers/acme/cloud";
    let mut all = answers(&[
        (
            &format!("{base}/versions"),
            r#"{"versions": [{"version": "1.0.0"}, {"version": "1.1.0"}]}"#.to_owned(),
        ),
        (
            &format!("{base}/1.1.0/download/{system}/{processor}"),
            format!(r#"{{"download_url": "/files/a.zip", "shasum": "{sum}"}}"#),
        ),
    ]);
    all.insert("/files/a.zip".to_owned(), fs::read(&archive).expect("a file"));
    let url = format!("{}v1/providers", serve(all));
    let error = world.install(Some(&Remote::default())).await.expect_err("an error");
    assert!(error.contains("the registry `registry.acme.dev` is not allowed"), "{error}");
    let registries = BTreeMap::from([("registry.acme.dev".to_owned(), url)]);
    let remote = Remote { registries, ..Remote::default() };
    assert_eq!(world.install(Some(&remote)).await, Ok(("1.1.0".to_owned(), true)));
    assert!(world.is_installed("1.1.0"));
}

async fn bad_answers() {
    let mut world = World::new("bad-answers");
    let archive = world.archive("a.zip");
    let base = "/registry.acme.dev/acme/cloud";
    let versions = r#"{"versions": {"1.2.0": {}}}"#.to_owned();
    let document = |url: &str| {
        let zero = "0".repeat(64);
        format!(
            r#"{{"archives": {{"{}": {{"url": "{url}", "hashes": ["zh:{zero}"]}}}}}}"#,
            platform()
        )
    };
    for (document, expected) in [
        ("not JSON".to_owned(), "1.2.0.json is not valid JSON"),
        ("{}".to_owned(), "has no archive for"),
        (document("missing.zip"), "missing.zip does not exist"),
        (document("http://example.com/a.zip"), "http://example.com/a.zip is not encrypted"),
        (document("file:///etc/passwd"), "file:///etc/passwd is not encrypted"),
        (document("a.zip"), "which the server does not name"),
    ] {
        let mut all = answers(&[
            (&format!("{base}/index.json"), versions.clone()),
            (&format!("{base}/1.2.0.json"), document),
        ]);
        all.insert(format!("{base}/a.zip"), fs::read(&archive).expect("a file"));
        let remote = Remote { mirror: Some(serve(all)), ..Remote::default() };
        let error = world.install(Some(&remote)).await.expect_err(expected);
        assert!(error.contains(expected), "{error}");
        assert!(!world.is_installed("1.2.0"));
        assert_eq!(world.hashes(), [""; 0]);
    }
}
