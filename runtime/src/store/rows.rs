//! Values of our own types from rows. What does not parse is damage, since only we write there.

use std::error::Error;
use std::str::FromStr;

use rusqlite::Row;
use rusqlite::types::Type;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value as Json;

use crate::model::canonical::{self, CanonicalJson};
use crate::model::digest::Digest;

/// A name, id or the like from its text form.
pub(super) fn parsed<T>(row: &Row<'_>, column: &str) -> rusqlite::Result<T>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    row.get::<_, String>(column)?.parse().map_err(|error| unreadable(row, column, Type::Text, error))
}

/// The same, where the column may be null.
pub(super) fn parsed_or_null<T>(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<T>>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    let text: Option<String> = row.get(column)?;
    text.map(|text| text.parse().map_err(|error| unreadable(row, column, Type::Text, error))).transpose()
}

/// A digest from its 32 bytes.
pub(super) fn digest<K>(row: &Row<'_>, column: &str) -> rusqlite::Result<Digest<K>> {
    row.get(column).map(Digest::from_bytes)
}

/// A case of an enum from its word.
pub(super) fn word<T>(row: &Row<'_>, column: &str, from_word: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let word: String = row.get(column)?;
    from_word(&word).ok_or_else(|| unreadable(row, column, Type::Text, UnknownWord(word)))
}

/// JSON that is kept as its text.
pub(super) fn kept(row: &Row<'_>, column: &str) -> rusqlite::Result<CanonicalJson> {
    kept_text(row, column, row.get(column)?)
}

/// The same, where the column may be null.
pub(super) fn kept_or_null(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<CanonicalJson>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| kept_text(row, column, text)).transpose()
}

fn kept_text(row: &Row<'_>, column: &str, text: String) -> rusqlite::Result<CanonicalJson> {
    let is_json = serde_json::from_str::<IgnoredAny>(&text);
    is_json.map_err(|error| unreadable(row, column, Type::Text, error))?;
    Ok(CanonicalJson::from_canonical(text))
}

/// JSON from its text, where the column may be null.
pub(super) fn json_or_null(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Json>> {
    read_or_null(row, column)
}

/// A value of ours from its JSON, where the column may be null.
pub(super) fn read_or_null<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text).map_err(|error| unreadable(row, column, Type::Text, error))).transpose()
}

/// The canonical text of JSON, for a column.
pub(super) fn canonical(json: &Json) -> rusqlite::Result<String> {
    canonical::text(json).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn unreadable(row: &Row<'_>, column: &str, kind: Type, error: impl Error + Send + Sync + 'static) -> rusqlite::Error {
    match row.as_ref().column_index(column) {
        Ok(index) => rusqlite::Error::FromSqlConversionFailure(index, kind, Box::new(error)),
        Err(error) => error,
    }
}

#[derive(Debug, thiserror::Error)]
#[error("`{}` is not one of the words of this format", .0.escape_debug())]
struct UnknownWord(String);
