//! Changes to one part of a bundle, with the digests and sizes that name it made right again: else no change would get past them.

use sha2::{Digest as _, Sha256};
use tar::Header;

use super::super::catalog::canonical;
use crate::mutate::Mutator;

const BLOCK: usize = 512;

/// What the name of a blob starts with.
const BLOB: &str = "blobs/sha256/";

struct Member {
    header: Header,
    content: Vec<u8>,
}

/// Changes a member of the archive: its content, or its header.
pub(super) fn change_part(mutator: &mut Mutator<'_>, input: &mut Vec<u8>) {
    let mut members = take_apart(input);
    let at = mutator.random.below(members.len());
    let Some(member) = members.get_mut(at) else { return };
    if mutator.random.once_in(8) {
        let mut bytes = member.header.as_bytes().to_vec();
        mutator.change(&mut bytes);
        bytes.resize(BLOCK, 0);
        member.header.as_mut_bytes().copy_from_slice(&bytes);
        member.header.set_cksum();
    } else {
        mutator.change(&mut member.content);
        if !mutator.random.once_in(4) {
            member.content = canonical(&member.content).unwrap_or_else(|| std::mem::take(&mut member.content));
        }
        member.header.set_size(member.content.len() as u64);
        follow(&mut members, at);
    }
    if mutator.random.once_in(32) {
        let other = mutator.random.below(members.len());
        members.swap(at, other);
    }
    *input = put_together(&members);
}

/// Names the changed member anew, and so on with whatever names it: the manifest, and `index.json`.
fn follow(members: &mut [Member], changed: usize) {
    let mut changed = vec![changed];
    for _ in 0..8 {
        let Some(at) = changed.pop() else { break };
        let (old, new) = (name(&members[at]), hex::encode(Sha256::digest(&members[at].content)));
        if let Some(old) = old.strip_prefix(BLOB).filter(|old| *old != new) {
            let size = members[at].content.len();
            let name = format!("{BLOB}{new}");
            members[at].header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            for (place, member) in members.iter_mut().enumerate().filter(|(place, _)| *place != at) {
                if refer_anew(&mut member.content, old, &new, size) {
                    member.header.set_size(member.content.len() as u64);
                    changed.push(place);
                }
            }
        }
        members[at].header.set_cksum();
    }
    members.sort_by_key(name);
}

/// Puts a new digest and size in the place of an old one. Whether there was one.
fn refer_anew(content: &mut Vec<u8>, old: &str, new: &str, size: usize) -> bool {
    let Ok(text) = std::str::from_utf8(content) else { return false };
    let Some((before, after)) = text.split_once(old) else { return false };
    let sized = after.split_once("\"size\":").filter(|(between, _)| between.len() < 100).map(|(between, rest)| {
        let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
        format!("{between}\"size\":{size}{rest}")
    });
    *content = format!("{before}{new}{}", sized.unwrap_or_else(|| after.to_owned())).into_bytes();
    true
}

fn name(member: &Member) -> String {
    let name = &member.header.as_old().name;
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).into_owned()
}

/// The members, as far as there are some.
fn take_apart(bytes: &[u8]) -> Vec<Member> {
    let (mut members, mut rest) = (Vec::new(), bytes);
    while let Some((block, after)) = rest.split_at_checked(BLOCK).filter(|(block, _)| block[0] != 0) {
        let header = Header::from_byte_slice(block).clone();
        let size = header.entry_size().map_or(0, |size| usize::try_from(size).unwrap_or(usize::MAX)).min(after.len());
        members.push(Member { header, content: after[..size].to_vec() });
        rest = after.get(size.next_multiple_of(BLOCK)..).unwrap_or_default();
    }
    members
}

fn put_together(members: &[Member]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for member in members {
        bytes.extend(member.header.as_bytes());
        bytes.extend(&member.content);
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    }
    bytes.resize(bytes.len() + 2 * BLOCK, 0);
    bytes
}
