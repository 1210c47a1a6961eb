//! An import that no definition may have, declared here because no toolchain brings it to this target.

#[allow(clippy::all, clippy::allow_attributes_without_reason, unused_qualifications, reason = "generated, and not ours to shape")]
mod bindings {
    wit_bindgen::generate!({
        inline: r#"
            package broken:clock;

            world reads-the-clock {
                import wasi:clocks/monotonic-clock@0.2.6;
            }

            package wasi:clocks@0.2.6 {
                interface monotonic-clock {
                    type instant = u64;

                    now: func() -> instant;
                }
            }
        "#,
        world: "reads-the-clock",
        generate_all,
    });
}

/// Nanoseconds since some moment.
pub fn now() -> u64 {
    bindings::wasi::clocks::monotonic_clock::now()
}
