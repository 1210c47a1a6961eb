//! The half that meets the node.

use runtime_sdk::files::{Attributes, Content, Detail, Object};
use runtime_sdk::node::not_supported;
use runtime_sdk::provider::{Backend, BackendContext, Interrupted};
use runtime_sdk::{Asset, HostCall, NodeResult, Outcome, Progress, Value, files};
use serde::{Deserialize, Serialize};

use crate::{Act, Desired, Options, Shelf};

/// What the type reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// What is kept; none if nothing is.
    pub text: Option<String>,
    /// What else is not as the options say.
    pub more: Vec<String>,
}

fn look(path: &str) -> NodeResult<(Object, Option<files::Observation>)> {
    let handle = Object::open(path.as_bytes()).before_change("look at the path")?;
    let seen = handle.observe(Detail::DIGEST).before_change("look at the path")?;
    Ok((handle, seen))
}

fn text_at(path: &str) -> NodeResult<Option<String>> {
    let (handle, seen) = look(path)?;
    if seen.is_none() {
        return Ok(None);
    }
    let bytes = handle.read(0, 1 << 16).before_change("read what is kept")?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The content that the file of a part should have.
fn content(options: &Options, part: &str) -> Option<Content> {
    let of_asset = |asset: &Option<Asset>| asset.as_ref().and_then(Asset::name).map(|name| Content::Asset(name.to_owned()));
    match part {
        "label" => options.label.as_ref().map(|label| Content::Inline(label.clone().into_bytes())),
        "stamp" => of_asset(&options.stamp),
        _ => of_asset(&options.note),
    }
}

/// Whether a part of the options is sensitive, so that the host tells no content of the resource.
fn is_hidden(options: &Options) -> bool {
    options.note.as_ref().and_then(Asset::name).is_some_and(|name| name.starts_with("secret:"))
}

/// Whether the file of a part is as it should be; of hidden content only whether it is there.
fn is_kept(path: &str, wanted: &Content, hidden: bool) -> NodeResult<bool> {
    let (handle, seen) = look(path)?;
    Ok(match (seen, wanted) {
        (None, _) => false,
        (Some(_), _) if hidden => true,
        (Some(seen), Content::Asset(name)) => seen.digest.as_ref() == Some(name),
        (Some(_), Content::Inline(bytes)) => handle.read(0, 1 << 16).before_change("read what is kept")? == *bytes,
    })
}

fn put(progress: &mut Progress, path: &str, content: &Content) -> NodeResult<()> {
    let (handle, _) = look(path)?;
    let attributes = Attributes { owner: None, group: None, mode: Some(0o644) };
    let staged = progress.harmless("stage the file", handle.stage(content, attributes))?;
    progress.whole("put the file in place", staged.commit())
}

impl Backend for Shelf {
    type Observation = Observation;

    fn inspect(desired: &Desired, _options: &Options, _context: &BackendContext) -> NodeResult<Value> {
        let handle = Object::open(desired.path.as_bytes()).before_change("look at the path")?;
        let is_there = handle.observe(Detail::empty()).before_change("look at the path")?.is_some();
        Ok(is_there.into())
    }

    fn read(desired: &Desired, options: &Options, _context: &BackendContext) -> NodeResult<Observation> {
        match options.act {
            Some(Act::WriteInRead) => drop(put(&mut Progress::new(), &desired.path, &Content::Inline(b"early".to_vec()))),
            Some(Act::Grow) => Act::grow(),
            Some(Act::Spin) => Act::spin(),
            _ => {}
        }
        let mut more = Vec::new();
        for part in crate::BESIDE {
            if let Some(wanted) = content(options, part)
                && !is_kept(&format!("{}.{part}", desired.path), &wanted, is_hidden(options))?
            {
                more.push(format!("{part} is not kept"));
            }
        }
        let text = if is_hidden(options) { hidden_text(desired)? } else { text_at(&desired.path)? };
        Ok(Observation { text, more })
    }

    fn apply(desired: &Desired, options: &Options, current: &Observation, _context: &BackendContext) -> NodeResult<Outcome> {
        let mut progress = Progress::new();
        if options.act == Some(Act::Forget) {
            return Ok(Outcome::changed());
        }
        if options.act == Some(Act::Stray) {
            let own = Object::open(desired.path.as_bytes()).before_change("look at the path")?;
            drop(own.remove(true));
        }
        if current.text.as_ref() != Some(&desired.text) {
            put(&mut progress, &desired.path, &Content::Inline(desired.text.clone().into_bytes()))?;
        }
        assert!(options.act != Some(Act::Trap), "it was told to");
        for part in crate::BESIDE {
            if let Some(content) = content(options, part) {
                put(&mut progress, &format!("{}.{part}", desired.path), &content)?;
            }
        }
        Ok(Outcome { output: Some("kept on the shelf".into()), ..Outcome::changed() })
    }

    fn recover(desired: &Desired, options: &Options, operation: &Interrupted, _context: &BackendContext) -> NodeResult<()> {
        if !options.resume {
            return Err(not_supported("the shelf may be in any state".into()));
        }
        let staged = files::discard_staged(desired.path.as_bytes(), &operation.staging_name);
        staged.before_change("remove what was staged")?;
        Ok(())
    }
}

/// The text where a part of the resource is sensitive, so that no content is told: what is desired, if anything is there.
fn hidden_text(desired: &Desired) -> NodeResult<Option<String>> {
    let (_, seen) = look(&desired.path)?;
    Ok(seen.map(|_| desired.text.clone()))
}
