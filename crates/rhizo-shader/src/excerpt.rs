//! Source excerpts with the place of an error underlined. Plain text, no colours: the caller may be a log file.

use crate::error::SourceLocation;
use std::fmt::Write;
use std::ops::Range;

/// At most this many places are shown; the rest is counted.
const MAX_LABELS: usize = 4;
/// Longer lines are cut to a window of this many characters around the place.
const MAX_LINE_CHARS: usize = 120;

/// One place and what is said about it.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    /// Bytes of the source. May be out of range or split a character: it is brought in range.
    pub span: Range<usize>,
    /// What to write under the place, may be empty.
    pub text: String,
}

/// The location of the first label, and all of them drawn.
pub(crate) fn render(name: &str, text: &str, labels: &[Label]) -> (Option<SourceLocation>, String) {
    let mut out = String::new();
    let Some(first) = labels.first() else { return (None, out) };
    let location = locate(text, &first.span);
    let _ = writeln!(out, " --> {name}:{}:{}", location.line, location.column);
    for label in labels.iter().take(MAX_LABELS) {
        draw(&mut out, text, label);
    }
    if labels.len() > MAX_LABELS {
        let _ = writeln!(out, "  (and {} more places)", labels.len() - MAX_LABELS);
    }
    (Some(location), out)
}

/// The nearest character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |n| n + 1)
}

fn locate(text: &str, span: &Range<usize>) -> SourceLocation {
    let start = boundary(text, span.start);
    let end = boundary(text, span.end).max(start);
    let begin = line_start(text, start);
    let to_u32 = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    SourceLocation {
        line: to_u32(text[..start].matches('\n').count() + 1),
        column: to_u32(text[begin..start].chars().count() + 1),
        offset: to_u32(start),
        length: to_u32(end - start),
    }
}

fn draw(out: &mut String, text: &str, label: &Label) {
    let at = locate(text, &label.span);
    let start = at.offset as usize;
    let begin = line_start(text, start);
    let end_of_line = text[begin..].find('\n').map_or(text.len(), |n| begin + n);
    let end = (start + at.length as usize).min(end_of_line).max(start);
    let column = at.column as usize - 1;
    let width = text[start..end].chars().count().max(1);

    let skip = column.saturating_sub(MAX_LINE_CHARS / 2);
    let shown: String = text[begin..end_of_line].chars().skip(skip).take(MAX_LINE_CHARS).map(printable).collect();
    let cut = if skip > 0 { "..." } else { "" };
    let width = width.min(MAX_LINE_CHARS.saturating_sub(column - skip).max(1));
    let gutter = at.line.to_string();
    let pad = " ".repeat(gutter.len());
    let indent = " ".repeat(cut.len() + column - skip);
    let _ = writeln!(out, "{pad} |");
    let _ = writeln!(out, "{gutter} | {cut}{}", shown.trim_end());
    let marks = "^".repeat(width);
    let _ = writeln!(out, "{}", format!("{pad} | {indent}{marks} {}", label.text).trim_end());
}

/// Tabs become one space so that the underline stays below its text; other control characters are not passed on.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(span: Range<usize>, text: &str) -> Label {
        Label { span, text: text.into() }
    }

    #[test]
    fn underlines_the_span() {
        let (at, drawn) = render("a.wgsl", "one\n\tlet x = foo;\n", &[label(13..16, "unknown")]);
        assert_eq!(at, Some(SourceLocation { line: 2, column: 10, offset: 13, length: 3 }));
        assert_eq!(drawn, " --> a.wgsl:2:10\n  |\n2 |  let x = foo;\n  |          ^^^ unknown\n");
    }

    #[test]
    fn spans_outside_the_text_or_inside_a_character_are_brought_in_range() {
        for (start, end) in [(0, 9), (1, 2), (2, 1), (400, 900), (3, 3)] {
            let (at, drawn) = render("x", "é\u{7}\n", &[label(start..end, "")]);
            assert!(at.expect("a place").line <= 2);
            assert!(!drawn.contains('\u{7}'));
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{}foo{}", "a".repeat(5000), "b".repeat(5000));
        let (_, drawn) = render("x", &text, &[label(5000..5003, "here")]);
        assert!(drawn.len() < 400, "{drawn}");
        let lines: Vec<&str> = drawn.lines().collect();
        let column = lines[3].find('^').expect("underlined");
        assert_eq!(&lines[2][column..column + 3], "foo");
    }
}
