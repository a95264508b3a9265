//! Laws of the resolver, tried on random configurations.

use crate::generate::{Configuration, configuration};
use crate::model::{self, ModelResult};
use fastrand::Rng;
use kusion_cells::{Cell, ProblemKind, Resolved, Resolver, Selector};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The number of configurations that are tried unless the environment says otherwise.
const CONFIGURATIONS: u64 = 1_500;

#[expect(clippy::disallowed_methods, reason = "a test reads how much to try")]
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

fn each_configuration(mut check: impl FnMut(&mut Rng, &Configuration)) {
    let seed = number("KUSION_CI_SEED", 1);
    for at in 0..number("KUSION_CELLS_CONFIGURATIONS", CONFIGURATIONS) {
        let mut rng = Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(at));
        let configuration = configuration(&mut rng);
        check(&mut rng, &configuration);
    }
}

fn cells_of(resolver_cells: &Selector) -> Vec<Cell> {
    resolver_cells.cells().collect()
}

fn plain(resolved: &Resolved) -> ModelResult {
    let values: BTreeMap<Vec<String>, Value> = resolved
        .leaves
        .iter()
        .filter_map(|leaf| Some((leaf.path.0.clone(), leaf.value.clone()?)))
        .collect();
    let problems = resolved.problems.iter().map(|it| it.path.0.clone()).collect();
    ModelResult { values, problems }
}

#[test]
fn every_cell_has_the_result_of_the_model_and_the_check_finds_its_problems() {
    let (mut n_cells, mut n_conflicts, mut n_locked) = (0, 0, 0);
    each_configuration(|_, configuration| {
        let axes = configuration.real_axes();
        let layers = configuration.real_layers(&axes);
        let resolver = Resolver::new(&axes, &layers);
        let mut problems: BTreeMap<Vec<String>, BTreeSet<Cell>> = BTreeMap::new();
        let real_cells = cells_of(&Selector::all(&axes));
        let model_cells = model::cells(configuration);
        assert_eq!(real_cells.len(), model_cells.len());
        for (cell, model_cell) in real_cells.iter().zip(&model_cells) {
            n_cells += 1;
            let expected = model::resolve(configuration, model_cell);
            let found = plain(&resolver.resolve(cell));
            assert_eq!(found, expected, "at {model_cell:?} of {configuration:#?}");
            for path in expected.problems {
                problems.entry(path).or_default().insert(cell.clone());
            }
        }
        let checked = resolver.check();
        let (locked, others): (Vec<_>, Vec<_>) =
            checked.iter().partition(|it| it.kind == ProblemKind::Locked);
        let found: BTreeSet<&Vec<String>> = others.iter().map(|it| &it.path.0).collect();
        let expected: BTreeSet<&Vec<String>> = problems.keys().collect();
        assert_eq!(found, expected, "the check of {configuration:#?}");
        for problem in &others {
            let cells = &problems[&problem.path.0];
            assert!(cells.contains(&problem.cell), "{problem:?} of {configuration:#?}");
            if let Some(settle) = &problem.settle {
                assert!(settle.contains(&problem.cell));
            }
            assert!(!problem.message(&axes, &layers).is_empty());
        }
        let locked: BTreeSet<(Vec<String>, usize, usize)> = locked
            .iter()
            .map(|it| (it.path.0.clone(), it.sides[0].layer, it.sides[1].layer))
            .collect();
        assert_eq!(locked, model::locked(configuration), "the locks of {configuration:#?}");
        n_conflicts += usize::from(!problems.is_empty());
        n_locked += usize::from(!locked.is_empty());
    });
    // The generator must not lose what it is for.
    assert!(n_cells > 0 && n_conflicts > 0 && n_locked > 0, "{n_cells} {n_conflicts} {n_locked}");
}

#[test]
fn the_order_of_layers_has_no_effect() {
    each_configuration(|rng, configuration| {
        let axes = configuration.real_axes();
        let layers = configuration.real_layers(&axes);
        let mut shuffled = layers.clone();
        rng.shuffle(&mut shuffled);
        let (one, other) = (Resolver::new(&axes, &layers), Resolver::new(&axes, &shuffled));
        for cell in cells_of(&Selector::all(&axes)) {
            assert_eq!(plain(&one.resolve(&cell)), plain(&other.resolve(&cell)));
        }
        let paths = |resolver: &Resolver<'_>| -> BTreeSet<(Vec<String>, ProblemKind)> {
            resolver.check().into_iter().map(|it| (it.path.0, it.kind)).collect()
        };
        assert_eq!(paths(&one), paths(&other), "{configuration:#?}");
    });
}

#[test]
fn a_winner_beats_every_loser_and_the_settling_layer_settles() {
    each_configuration(|_, configuration| {
        let axes = configuration.real_axes();
        let layers = configuration.real_layers(&axes);
        let resolver = Resolver::new(&axes, &layers);
        for cell in cells_of(&Selector::all(&axes)) {
            for leaf in resolver.resolve(&cell).leaves {
                let explained = resolver.explain(&leaf.path, &cell).expect("it has a value");
                assert_eq!(explained.value, leaf.value, "{configuration:#?}");
                let winners: Vec<usize> = explained.winners.iter().map(|it| it.layer).collect();
                assert_eq!(winners, leaf.layers);
                for loss in &explained.losses {
                    assert!(loss.decision.is_some(), "{explained:?} of {configuration:#?}");
                    let order = model::order(configuration, &leaf.path.0);
                    let loser = &configuration.layers[loss.candidate.layer];
                    let beaten = winners
                        .iter()
                        .any(|winner| model::beats(&order, &configuration.layers[*winner], loser));
                    assert!(beaten, "{explained:?} of {configuration:#?}");
                }
            }
        }
    });
}

#[test]
fn being_more_specific_is_transitive_and_never_mutual() {
    each_configuration(|_, configuration| {
        let layers = &configuration.layers;
        for path in model::paths(configuration) {
            let order = model::order(configuration, &path);
            let beats = |a: usize, b: usize| model::beats(&order, &layers[a], &layers[b]);
            let all = 0..layers.len();
            for (a, b) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))) {
                assert!(!(beats(a, b) && beats(b, a)));
                for c in all.clone().filter(|c| beats(a, b) && beats(b, *c)) {
                    assert!(beats(a, c), "{configuration:#?}");
                }
            }
        }
    });
}
