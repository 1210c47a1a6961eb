//! The resource type `service` on real machines, whole: the program compiles a manifest and applies it to a machine with an init system.

#![allow(clippy::disallowed_methods, reason = "tests make files and run programs, in machines of their own")]

mod elsewhere;

mod interrupted;

mod journey;

mod lost;

mod on;

mod openrc;

mod refresh;

mod systemd;
