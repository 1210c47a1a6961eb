//! Imports that no definition may have, declared here because no toolchain brings them to this target.

#[allow(clippy::all, clippy::allow_attributes_without_reason, unused_qualifications, reason = "generated, and not ours to shape")]
mod bindings {
    wit_bindgen::generate!({
        inline: r#"
            package hostile:outside;

            world reads-what-is-outside {
                import wasi:clocks/monotonic-clock@0.2.6;
                import wasi:random/random@0.2.6;
                import wasi:cli/environment@0.2.6;
            }

            package wasi:clocks@0.2.6 {
                interface monotonic-clock {
                    type instant = u64;

                    now: func() -> instant;
                }
            }

            package wasi:random@0.2.6 {
                interface random {
                    get-random-u64: func() -> u64;
                }
            }

            package wasi:cli@0.2.6 {
                interface environment {
                    get-environment: func() -> list<tuple<string, string>>;
                }
            }
        "#,
        world: "reads-what-is-outside",
        generate_all,
    });
}

/// Nanoseconds since some moment.
pub fn now() -> u64 {
    bindings::wasi::clocks::monotonic_clock::now()
}

/// A random number.
pub fn random() -> u64 {
    bindings::wasi::random::random::get_random_u64()
}

/// The variables of the environment.
pub fn environment() -> Vec<(String, String)> {
    bindings::wasi::cli::environment::get_environment()
}
