//! What colours mean.

use anstyle::{AnsiColor, Style};

/// The style of each kind of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Palette {
    /// What is made.
    pub create: Style,
    /// What is changed.
    pub update: Style,
    /// What is removed.
    pub delete: Style,
    /// What went wrong.
    pub error: Style,
    /// What deserves a look.
    pub warning: Style,
    /// What helps.
    pub hint: Style,
    /// Names that lead a paragraph.
    pub strong: Style,
    /// What may be skipped.
    pub dim: Style,
}

impl Palette {
    /// No colour: the text holds no escape sequence.
    pub fn plain() -> Self {
        Self::default()
    }

    /// Colours of the 16 that every terminal theme has.
    pub fn coloured() -> Self {
        Self {
            create: AnsiColor::Green.on_default(),
            update: AnsiColor::Yellow.on_default(),
            delete: AnsiColor::Red.on_default(),
            error: AnsiColor::Red.on_default().bold(),
            warning: AnsiColor::Yellow.on_default().bold(),
            hint: AnsiColor::Cyan.on_default(),
            strong: Style::new().bold(),
            dim: Style::new().dimmed(),
        }
    }
}

/// `text` in `style`, and back to none.
pub(super) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
