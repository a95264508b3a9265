//! Stacks with resources of Terraform providers, through the binary. Needs the providers that
//! `.ci/terraform-providers` builds.

mod life;
mod safety;
mod world;

use std::process::ExitCode;
use testkit::Suite;
use world::Programs;

type Test = (&'static str, fn(Programs));

fn main() -> ExitCode {
    let mut suite = Suite::default();
    let tests: [Test; 7] = [
        ("resources_of_a_provider_live_and_end", |it| life::whole(&it)),
        ("a_saved_plan_runs", |it| life::saved_plan(&it)),
        ("a_stack_spans_a_provider_and_a_cluster", |it| life::mixed(&it)),
        ("a_provider_says_what_it_offers", |it| life::schema(&it)),
        ("a_provider_runs_only_as_it_is_locked", |it| safety::locked(&it)),
        ("secrets_are_printed_and_stored_nowhere", |it| safety::secrets(&it)),
        ("an_object_of_a_killed_create_is_adopted_or_forgotten", |it| safety::killed(&it)),
    ];
    for (name, test) in tests {
        suite.add_with(name, Programs::find(), test);
    }
    suite.run()
}
