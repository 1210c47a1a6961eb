//! `network.*`: interfaces with their addresses, and where what is not local goes. Of the running system alone; nothing is sent.

use std::collections::BTreeMap;

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::SockaddrStorage;
use serde_json::{Value as Json, json};

use super::machine;
use crate::node::Root;
use crate::text::escape;

/// The most that is read of the routing table, in bytes.
const MAX_ROUTES: u64 = 1024 * 1024;

pub(super) fn gather(root: &Root) -> Option<Json> {
    if !root.is_system() {
        return None;
    }
    let mut interfaces: BTreeMap<String, Interface> = BTreeMap::new();
    for address in getifaddrs().ok()? {
        interfaces.entry(escape(&address.interface_name)).or_default().add(&address);
    }
    let interfaces: BTreeMap<String, Json> = interfaces.into_iter().map(|(name, interface)| (name, interface.json())).collect();
    let routes = machine::read("/proc/net/route", MAX_ROUTES).unwrap_or_default();
    Some(json!({ "interfaces": interfaces, "default": default_route(&routes) }))
}

/// One network interface.
#[derive(Debug, Default)]
struct Interface {
    up: bool,
    mac: Option<String>,
    ipv4: Vec<String>,
    ipv6: Vec<String>,
}

impl Interface {
    fn add(&mut self, found: &InterfaceAddress) {
        self.up = found.flags.contains(InterfaceFlags::IFF_UP);
        let Some(address) = &found.address else { return };
        if let Some(link) = address.as_link_addr() {
            // The loopback interface has one of nothing but zeros.
            self.mac = link
                .addr()
                .filter(|mac| mac.iter().any(|byte| *byte != 0))
                .map(|mac| mac.map(|byte| format!("{byte:02x}")).join(":"));
        } else if let Some(ipv4) = address.as_sockaddr_in() {
            self.ipv4.push(with_prefix(&ipv4.ip().to_string(), found.netmask.as_ref()));
        } else if let Some(ipv6) = address.as_sockaddr_in6() {
            self.ipv6.push(with_prefix(&ipv6.ip().to_string(), found.netmask.as_ref()));
        }
    }

    fn json(mut self) -> Json {
        self.ipv4.sort_unstable();
        self.ipv6.sort_unstable();
        json!({ "up": self.up, "mac": self.mac, "ipv4": self.ipv4, "ipv6": self.ipv6 })
    }
}

/// `10.0.0.2/24`.
fn with_prefix(address: &str, mask: Option<&SockaddrStorage>) -> String {
    let bits = mask.and_then(|mask| {
        let ipv4 = mask.as_sockaddr_in().map(|mask| mask.ip().to_bits().count_ones());
        ipv4.or_else(|| mask.as_sockaddr_in6().map(|mask| mask.ip().to_bits().count_ones()))
    });
    bits.map_or_else(|| address.to_owned(), |bits| format!("{address}/{bits}"))
}

/// Interface and gateway of the route to everywhere with the least metric, of the kernel's table for IPv4.
fn default_route(routes: &str) -> Json {
    let route = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let everywhere = fields.get(1) == Some(&"00000000") && fields.get(7) == Some(&"00000000");
        let gateway = u32::from_str_radix(fields.get(2)?, 16).ok()?;
        let metric: u32 = fields.get(6)?.parse().ok()?;
        everywhere.then(|| (metric, escape(fields[0]), std::net::Ipv4Addr::from(gateway.swap_bytes())))
    };
    match routes.lines().skip(1).filter_map(route).min() {
        Some((_, interface, gateway)) => json!({ "interface": interface, "gateway": gateway.to_string() }),
        None => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_route_is_the_one_that_is_taken() {
        let table = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
                     wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n\
                     eth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
                     eth0\t0000000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n";
        assert_eq!(default_route(table), json!({ "interface": "eth0", "gateway": "10.0.0.1" }));
        assert_eq!(default_route("Iface\n"), Json::Null);
    }

    #[test]
    fn the_running_system_has_a_loopback_interface() {
        let root = Root::open(std::path::Path::new("/")).unwrap();
        let network = gather(&root).unwrap();
        let loopback = &network["interfaces"]["lo"];
        assert!(loopback["up"].is_boolean() && loopback["mac"].is_null(), "{network}");
    }
}
