//! A host without an evaluator.

use base_system::{MemorySystem, System};
use kcl_std::Host;
use kcl_value::output::Stream;
use kcl_value::{CallArgs, Fault, Result, Value};
use std::path::Path;
use std::time::Duration;

/// A host with files in memory; function values add their arguments.
pub(crate) struct TestHost {
    pub(crate) system: MemorySystem,
    /// How many bytes one more value may take.
    pub(crate) room: usize,
    pub(crate) strict_range: bool,
    pub(crate) debug: bool,
    pub(crate) printed: String,
    pub(crate) stream: Option<String>,
}

impl TestHost {
    pub(crate) fn new() -> Self {
        let system = MemorySystem::new()
            .with_current_dir("/app")
            .with_file("/app/f.txt", "hello\n")
            .with_file("/app/d/a.txt", "x\n")
            .with_file("/app/g/a.txt", "")
            .with_file("/app/g/.h.txt", "")
            .with_file("/app/g/b/x.txt", "")
            .with_file("/app/g/b.txt", "")
            .with_file("/app/g/d/c/y.txt", "")
            .with_file("/app/g/z.txt", "")
            .with_file("/etc/passwd", "root")
            .with_env("GREETING", "hello")
            .with_now(Duration::from_secs(1_000_000_000));
        Self {
            system,
            room: 1 << 20,
            strict_range: false,
            debug: false,
            printed: String::new(),
            stream: None,
        }
    }
}

impl Host for TestHost {
    fn system(&self) -> &dyn System {
        &self.system
    }

    fn module_root(&self) -> &Path {
        Path::new("/app")
    }

    fn work_dir(&self) -> &Path {
        Path::new("/app")
    }

    fn current_file(&self) -> &'static str {
        "/app/main.k"
    }

    fn option(&self, key: &str) -> Option<Value> {
        match key {
            "n" => Some(Value::Int(3)),
            "s" => Some(Value::str("text")),
            "f" => Some(Value::Float(1.5)),
            "b" => Some(Value::Bool(true)),
            "l" => Some(Value::list(vec![Value::Int(1)])),
            _ => None,
        }
    }

    fn check_io(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn room(&self) -> usize {
        self.room
    }

    fn print(&mut self, text: &str) -> Result<()> {
        self.printed.push_str(text);
        Ok(())
    }

    fn set_stream(&mut self, stream: Stream) {
        self.stream = Some(stream.to_yaml(usize::MAX));
    }

    fn call(&mut self, _: &Value, args: CallArgs) -> Result<Value> {
        match args.positional.as_slice() {
            [a, b] => kcl_value::ops::add(a, b, false),
            _ => Err(Fault::new("called")),
        }
    }

    fn param_type(&self, _: &Value, _: usize) -> Option<String> {
        Some("int".to_owned())
    }

    fn union(&mut self, left: &Value, right: &Value) -> Result<Value> {
        let mut union = left.as_config().cloned().unwrap_or_default();
        for entry in right.as_config().into_iter().flatten() {
            union.insert(entry.key.clone(), entry.value.clone());
        }
        Ok(Value::dict(union))
    }

    fn strict_range(&self) -> bool {
        self.strict_range
    }

    fn debug(&self) -> bool {
        self.debug
    }
}
