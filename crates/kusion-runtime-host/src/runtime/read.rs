//! Reads objects: one script for each host.

use super::{Data, Inner, desired_item, identity, recorded_item};
use crate::address::Address;
use crate::answer::Answer;
use crate::items::{Fields, Item};
use crate::script::Script;
use futures::future::join_all;
use kusion_model::{Action, ResourceId};
use kusion_runtime::{Live, Pending, RuntimeError, Target};
use std::collections::BTreeMap;

/// An object to read.
struct Wanted<'t> {
    id: &'t ResourceId,
    address: Address,
    item: Box<dyn Item>,
    /// What is stored with it; `None` if it is not managed.
    data: Option<Data>,
}

type Found = Result<Option<Live>, RuntimeError>;

impl Inner {
    /// Reads objects, all of one host by one script. The error of a host is that of its objects.
    pub(super) async fn read_all(&self, targets: &[Target<'_>]) -> Vec<Found> {
        let mut found: Vec<Found> = targets.iter().map(|_| Ok(None)).collect();
        let mut hosts: BTreeMap<String, Vec<(usize, Wanted<'_>)>> = BTreeMap::new();
        for (place, target) in targets.iter().enumerate() {
            match self.wanted(target) {
                Ok(Some(it)) => hosts.entry(it.address.host.clone()).or_default().push((place, it)),
                Ok(None) => {}
                Err(fault) => found[place] = Err(fault),
            }
        }
        let reads = hosts.into_values().map(|wanted| self.read_host(wanted));
        for (place, it) in join_all(reads).await.into_iter().flatten() {
            found[place] = it;
        }
        found
    }

    /// Returns what to read for a target; `None` if a new resource is invalid, which its dry run
    /// reports.
    fn wanted<'t>(&self, target: &Target<'t>) -> Result<Option<Wanted<'t>>, RuntimeError> {
        let (address, item) = match (target.prior, target.desired) {
            // The recorded resource says how the object was made.
            (Some(prior), _) => recorded_item(prior)?,
            (None, Some(desired)) => match desired_item(desired) {
                Ok(it) => it,
                Err(_) => return Ok(None),
            },
            (None, None) => return Ok(None),
        };
        self.connection(&address)?;
        let data = target.prior.map(|it| Data::of(it.runtime.as_ref()).unwrap_or_default());
        Ok(Some(Wanted { id: target.id, address, item, data }))
    }

    async fn read_host(&self, wanted: Vec<(usize, Wanted<'_>)>) -> Vec<(usize, Found)> {
        let Some((_, first)) = wanted.first() else { return Vec::new() };
        let answers = match self.connection(&first.address) {
            Ok(connection) => {
                let mut script = Script::new();
                for (_, it) in &wanted {
                    it.item.read(&mut script);
                }
                connection.read(&script).await.map_err(super::change::read_fault)
            }
            Err(fault) => Err(fault),
        };
        match answers {
            Ok(answers) => wanted
                .into_iter()
                .zip(answers)
                .map(|((place, it), answer)| (place, self.found(&it, &answer)))
                .collect(),
            Err(fault) => {
                wanted.into_iter().map(|(place, _)| (place, Err(fault.clone()))).collect()
            }
        }
    }

    fn found(&self, wanted: &Wanted<'_>, answer: &Answer) -> Found {
        if let Some(error) = answer.error() {
            return Err(RuntimeError::Invalid(error));
        }
        self.note_parent(&wanted.address, &*wanted.item, answer.is("parent", "missing"));
        let Some(fields) = wanted.item.live(answer)? else { return Ok(None) };
        let data = wanted.data.clone().unwrap_or_else(|| Data {
            before: wanted.item.remembers_before().then(|| fields.clone()),
            remembered: Fields::new(),
        });
        Ok(Some(live(wanted.id, &wanted.address, fields, &data)))
    }

    /// Determines what an interrupted call did, by what exists now.
    pub(super) async fn look_after(
        &self,
        pending: &Pending<'_>,
    ) -> Result<Option<Live>, RuntimeError> {
        let (id, desired, prior) = (pending.id, pending.desired, pending.prior);
        // What is to be created did not exist before; the recorded object is the same one.
        let target = Target { id, desired, prior };
        let found = self.read_all(&[target]).await.pop().unwrap_or(Ok(None))?;
        let creates = prior.is_none() && pending.action == Action::Create;
        let is_reset = found.is_some() && creates;
        Ok(found.map(|mut it| {
            if is_reset && let Ok(address) = super::address_of(id) {
                it.runtime = Data::default().to_runtime(address.kind);
            }
            it
        }))
    }
}

/// Returns a live object.
pub(super) fn live(id: &ResourceId, address: &Address, mut fields: Fields, data: &Data) -> Live {
    fields.extend(data.remembered.clone());
    fields.insert("host".to_owned(), address.host.as_str().into());
    let runtime = data.to_runtime(address.kind);
    Live { runtime, ..Live::new(identity(id), serde_json::Value::Object(fields)) }
}
