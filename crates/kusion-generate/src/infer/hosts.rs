//! Dependencies of resources on hosts: a file or directory needs the directory that it is in.

use kusion_model::Resource;
use rustc_hash::FxHashMap;

/// The type of resources on hosts.
const HOST: &str = "Host";

/// Returns dependencies as pairs of indexes: the dependent first. The directory is the closest one
/// of the Spec.
pub(super) fn infer(resources: &[Resource]) -> Vec<(usize, usize)> {
    let places: Vec<(usize, &str, &str, &str)> = resources
        .iter()
        .enumerate()
        .filter(|(_, it)| it.resource_type.as_str() == HOST)
        .filter_map(|(place, it)| {
            let mut parts = it.id.as_str().splitn(4, ':').skip(1);
            Some((place, parts.next()?, parts.next()?, parts.next()?))
        })
        .collect();
    let directories: FxHashMap<(&str, &str), usize> = places
        .iter()
        .filter(|(_, kind, _, _)| *kind == "directory")
        .map(|(place, _, host, path)| ((*host, *path), *place))
        .collect();
    let mut edges = Vec::new();
    for (place, kind, host, path) in places {
        if !matches!(kind, "file" | "directory") {
            continue;
        }
        let mut above = path;
        while let Some((parent, _)) = above.rsplit_once('/') {
            if let Some(directory) = directories.get(&(host, parent)) {
                edges.push((place, *directory));
                break;
            }
            above = parent;
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{ResourceId, ResourceType};

    #[test]
    fn a_file_depends_on_the_closest_directory_of_its_host() {
        let resource = |id: &str| Resource {
            id: ResourceId::new(id),
            resource_type: ResourceType::new(HOST),
            attributes: serde_json::json!({}).into(),
            depends_on: Vec::new(),
            extensions: serde_json::Map::new(),
        };
        let all = [
            "host:file:a:/srv/app/conf/x",
            "host:directory:a:/srv",
            "host:directory:a:/srv/app",
            "host:file:b:/srv/app/x",
            "host:package:a:/srv/app/x",
            "host",
        ]
        .map(resource);
        assert_eq!(infer(&all), [(0, 2), (2, 1)]);
    }
}
