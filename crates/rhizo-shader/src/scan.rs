//! A look at source text before the compiler library sees it: how deep it nests and how long its chains are.
//!
//! naga's parsers are recursive, and so are the trees they build: one hundred thousand opening parentheses, or a sum of
//! as many terms, would exhaust any stack. The scan knows no grammar, only brackets, separators and words, and expands
//! GLSL macros within a budget (conditional directives are not evaluated: every branch counts, which is safe).

use crate::error::ShaderError;
use crate::excerpt::Label;
use crate::guard::limits;
use std::collections::HashMap;
use std::ops::Range;

/// A word (identifier, keyword, number) or a single punctuation character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token<'a> {
    text: &'a str,
    at: usize,
}

impl Token<'_> {
    fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c == '_' || c.is_alphanumeric())
    }
}

/// Checks WGSL.
pub(crate) fn wgsl(label: &str, text: &str) -> Result<(), ShaderError> {
    size(label, text)?;
    let mut depth = Depth::new(label, text);
    for token in tokens(text, 0..text.len(), true) {
        depth.feed(token)?;
    }
    Ok(())
}

/// Checks GLSL: the version line, macros, nesting.
pub(crate) fn glsl(label: &str, text: &str, defines: &[(&str, &str)]) -> Result<(), ShaderError> {
    size(label, text)?;
    let total: usize = defines.iter().map(|(name, value)| name.len() + value.len()).sum();
    if total > limits::SOURCE_BYTES {
        let limit = limits::SOURCE_BYTES as u64;
        return Err(ShaderError::too_large(label, "bytes of macro definitions", total as u64, limit));
    }
    let parts = split_glsl(text);
    check_version(label, text, &parts)?;
    let mut macros = Macros::new(label, text);
    for (name, value) in defines {
        macros.define(name, None, tokens(value, 0..value.len(), false).collect());
    }
    for part in &parts {
        if let Part::Directive(range) = part {
            macros.read_directive(text, range.clone());
        }
    }
    let mut depth = Depth::new(label, text);
    for part in parts {
        match part {
            Part::Text(range) => macros.expand_all(&tokens(text, range, false).collect::<Vec<_>>(), &mut depth)?,
            // Conditions are evaluated with macros expanded, each in its own right.
            Part::Directive(range) => {
                let mut own = Depth::new(label, text);
                let line: Vec<_> = tokens(text, range, false).skip(2).collect();
                macros.expand_all(&line, &mut own)?;
            }
        }
    }
    Ok(())
}

fn size(label: &str, text: &str) -> Result<(), ShaderError> {
    if text.len() > limits::SOURCE_BYTES {
        let limit = limits::SOURCE_BYTES as u64;
        return Err(ShaderError::too_large(label, "bytes of source", text.len() as u64, limit));
    }
    Ok(())
}

/// Tokens of a range of the text, comments skipped. Block comments nest in WGSL, not in GLSL.
fn tokens(text: &str, range: Range<usize>, nested_comments: bool) -> impl Iterator<Item = Token<'_>> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..range.end)?;
            let c = rest.chars().next()?;
            if c.is_whitespace() {
                at += c.len_utf8();
            } else if rest.starts_with("//") {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                at += comment_length(rest, nested_comments);
            } else {
                let word = |c: char| c == '_' || c.is_alphanumeric();
                let length = if word(c) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { c.len_utf8() };
                let token = Token { text: &rest[..length], at };
                at += length;
                return Some(token);
            }
        }
    })
}

/// Length of the block comment that `rest` starts with; an unclosed one goes to the end.
fn comment_length(rest: &str, nested: bool) -> usize {
    let bytes = rest.as_bytes();
    let (mut depth, mut i) = (0_usize, 0);
    while i + 1 < bytes.len() {
        match (bytes[i], bytes[i + 1]) {
            (b'/', b'*') if depth == 0 || nested => {
                depth += 1;
                i += 2;
            }
            (b'*', b'/') => {
                depth -= 1;
                i += 2;
                if depth == 0 {
                    return i;
                }
            }
            _ => i += 1,
        }
    }
    rest.len()
}

/// Counts brackets, chains and `else` branches.
struct Depth<'a> {
    label: &'a str,
    text: &'a str,
    levels: Vec<Level>,
    chain: usize,
    declarations: usize,
    after_statement: bool,
}

#[derive(Clone, Copy, Default)]
struct Level {
    /// The chain where the bracket was opened: what stands inside hangs below it.
    base: usize,
    else_branches: usize,
}

impl<'a> Depth<'a> {
    fn new(label: &'a str, text: &'a str) -> Self {
        Self { label, text, levels: vec![Level::default()], chain: 0, declarations: 0, after_statement: true }
    }

    fn feed(&mut self, token: Token<'_>) -> Result<(), ShaderError> {
        let after_statement = std::mem::take(&mut self.after_statement);
        if token.is_word() {
            return self.feed_word(token, after_statement);
        }
        match token.text {
            "(" | "[" | "{" => {
                self.lengthen(token)?;
                self.levels.push(Level { base: self.chain, else_branches: 0 });
                if self.levels.len() > limits::NESTING + 1 {
                    return Err(self.too_large("nested brackets", limits::NESTING, token));
                }
            }
            ")" | "]" => self.close(),
            "}" => {
                self.close();
                self.end_statement(token)?;
            }
            ";" => self.end_statement(token)?,
            "," => self.separate(),
            _ => self.lengthen(token)?,
        }
        Ok(())
    }

    fn feed_word(&mut self, token: Token<'_>, after_statement: bool) -> Result<(), ShaderError> {
        let is_else = token.text == "else";
        if let Some(level) = self.levels.last_mut() {
            if is_else {
                level.else_branches += 1;
                if level.else_branches > limits::ELSE_BRANCHES {
                    return Err(self.too_large("else branches", limits::ELSE_BRANCHES, token));
                }
            } else if after_statement {
                level.else_branches = 0;
            }
        }
        match token.text {
            "if" | "else" | "for" | "while" | "do" | "loop" | "switch" => self.lengthen(token),
            _ => Ok(()),
        }
    }

    fn close(&mut self) {
        if self.levels.len() > 1 {
            self.levels.pop();
        }
    }

    fn end_statement(&mut self, token: Token<'_>) -> Result<(), ShaderError> {
        self.separate();
        self.after_statement = true;
        if self.levels.len() == 1 {
            self.declarations += 1;
            if self.declarations > limits::DECLARATIONS {
                return Err(self.too_large("declarations", limits::DECLARATIONS, token));
            }
        }
        Ok(())
    }

    fn separate(&mut self) {
        self.chain = self.levels.last().map_or(0, |l| l.base);
    }

    fn lengthen(&mut self, token: Token<'_>) -> Result<(), ShaderError> {
        self.chain += 1;
        if self.chain > limits::CHAIN {
            return Err(self.too_large("operators in one expression", limits::CHAIN, token));
        }
        Ok(())
    }

    fn too_large(&self, what: &'static str, limit: usize, token: Token<'_>) -> ShaderError {
        let place = Label { span: token.at..token.at + token.text.len(), text: "here".into() };
        ShaderError::too_large(self.label, what, limit as u64 + 1, limit as u64).at(self.text, &[place])
    }
}

enum Part {
    Text(Range<usize>),
    Directive(Range<usize>),
}

/// Splits GLSL into directives (lines that start with `#`, continued by a backslash) and what stands between them.
fn split_glsl(text: &str) -> Vec<Part> {
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    let mut line_begins = true;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            at += comment_length(rest, false);
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if c == '#' && line_begins {
            let end = at + directive_length(rest);
            parts.extend([Part::Text(from..at), Part::Directive(at..end)]);
            (from, at) = (end, end);
        } else {
            line_begins = c == '\n' || (line_begins && c.is_whitespace());
            at += c.len_utf8();
        }
    }
    parts.push(Part::Text(from..text.len()));
    parts
}

fn directive_length(rest: &str) -> usize {
    let mut at = 0;
    loop {
        let Some(newline) = rest[at..].find('\n') else { return rest.len() };
        let line = &rest[at..at + newline];
        at += newline + 1;
        if !line.trim_end_matches('\r').ends_with('\\') {
            return at;
        }
    }
}

/// Only Vulkan GLSL is read: `#version 450` or `460`, core.
fn check_version(label: &str, text: &str, parts: &[Part]) -> Result<(), ShaderError> {
    for part in parts {
        let Part::Directive(range) = part else { continue };
        let words: Vec<Token<'_>> = tokens(text, range.clone(), false).collect();
        if words.get(1).is_none_or(|w| w.text != "version") {
            continue;
        }
        let place =
            [Label { span: range.start..range.start + text[range.clone()].trim_end().len(), text: String::new() }];
        let number = words.get(2).map_or("", |w| w.text);
        let profile = words.get(3).map_or("core", |w| w.text);
        if profile == "es" || matches!(number, "100" | "300" | "310" | "320") {
            return Err(ShaderError::unsupported(
                label,
                "GLSL ES input",
                "its combined samplers and missing binding numbers would have to be rewritten",
            )
            .at(text, &place)
            .note("write Vulkan GLSL (`#version 450`) or WGSL; GLSL ES is an output of this compiler"));
        }
        if !matches!(number, "450" | "460") || profile != "core" {
            return Err(
                ShaderError::unsupported(label, "this GLSL version", "only 450 and 460 core are read").at(text, &place)
            );
        }
        return Ok(());
    }
    Err(ShaderError::unsupported(label, "GLSL without a version", "it needs `#version 450` or `#version 460`")
        .at(text, &[Label { span: 0..0, text: String::new() }]))
}

struct Macro<'a> {
    /// `None` for an object-like macro.
    params: Option<Vec<&'a str>>,
    body: Vec<Token<'a>>,
}

struct Macros<'a> {
    label: &'a str,
    text: &'a str,
    /// All definitions a name ever gets: which one counts depends on conditions, so all are expanded.
    by_name: HashMap<&'a str, Vec<Macro<'a>>>,
    spent: usize,
}

impl<'a> Macros<'a> {
    fn new(label: &'a str, text: &'a str) -> Self {
        Self { label, text, by_name: HashMap::new(), spent: 0 }
    }

    fn define(&mut self, name: &'a str, params: Option<Vec<&'a str>>, body: Vec<Token<'a>>) {
        self.by_name.entry(name).or_default().push(Macro { params, body });
    }

    /// Takes in a `#define` line; other directives change nothing here (`#undef` is ignored: more counts, not less).
    fn read_directive(&mut self, text: &'a str, range: Range<usize>) {
        let line: Vec<Token<'a>> = tokens(text, range, false).filter(|t| t.text != "\\").collect();
        let [_, define, name, rest @ ..] = &line[..] else { return };
        if define.text != "define" {
            return;
        }
        // Function-like only if the bracket follows without a space.
        let touches = rest.first().is_some_and(|t| t.text == "(" && t.at == name.at + name.text.len());
        let close = rest.iter().position(|t| t.text == ")");
        match close {
            Some(close) if touches => {
                let params = rest[1..close].iter().filter(|t| t.is_word()).map(|t| t.text).collect();
                self.define(name.text, Some(params), rest[close + 1..].to_vec());
            }
            _ => self.define(name.text, None, rest.to_vec()),
        }
    }

    /// Expands macros in `tokens` and feeds the result to `depth`.
    fn expand_all(&mut self, tokens: &[Token<'a>], depth: &mut Depth<'_>) -> Result<(), ShaderError> {
        let mut hidden = Vec::new();
        for token in self.expand(tokens, &mut hidden)? {
            depth.feed(token)?;
        }
        Ok(())
    }

    fn expand(&mut self, input: &[Token<'a>], hidden: &mut Vec<&'a str>) -> Result<Vec<Token<'a>>, ShaderError> {
        let mut todo: Vec<Item<'a>> = input.iter().rev().map(|t| Item::Token(*t)).collect();
        let (mut out, own) = (Vec::new(), hidden.len());
        while let Some(item) = todo.pop() {
            let token = match item {
                Item::Token(token) => token,
                Item::End => {
                    if hidden.len() > own {
                        hidden.pop();
                    }
                    continue;
                }
            };
            self.spend(1, token)?;
            if hidden.contains(&token.text) || !self.by_name.contains_key(token.text) {
                out.push(token);
                continue;
            }
            if hidden.len() >= limits::MACRO_DEPTH {
                return Err(self.too_large("macros inside macros", limits::MACRO_DEPTH, token));
            }
            let arguments = take_arguments(&mut todo);
            let replaced = self.replace(token, arguments.as_deref(), hidden)?;
            hidden.push(token.text);
            todo.push(Item::End);
            todo.extend(replaced.into_iter().rev().map(Item::Token));
        }
        hidden.truncate(own);
        Ok(out)
    }

    /// The bodies of all definitions of `name` with the arguments put in, one after the other.
    fn replace(
        &mut self,
        name: Token<'a>,
        arguments: Option<&[Vec<Token<'a>>]>,
        hidden: &mut Vec<&'a str>,
    ) -> Result<Vec<Token<'a>>, ShaderError> {
        // Arguments are expanded before they are put in, so `F(F(x))` expands both. The name is hidden only to bound
        // the depth of the recursion, by the same limit as macros inside macros.
        let mut expanded = Vec::new();
        for argument in arguments.into_iter().flatten() {
            hidden.push("");
            expanded.push(self.expand(argument, hidden)?);
            hidden.pop();
        }
        let mut out = Vec::new();
        let mut object_like = false;
        let definitions = self.by_name.remove(name.text).unwrap_or_default();
        for Macro { params, body } in &definitions {
            object_like |= params.is_none();
            for token in body {
                let at = params.as_ref().and_then(|p| p.iter().position(|p| *p == token.text));
                match at {
                    Some(at) => out.extend(expanded.get(at).into_iter().flatten().copied()),
                    None => out.push(*token),
                }
            }
            self.spend(out.len().min(limits::EXPANDED_TOKENS + 1), name)?;
        }
        self.by_name.insert(name.text, definitions);
        if object_like && arguments.is_some() {
            // What looked like arguments followed an object-like macro and stays.
            let bracket = |text| Token { text, at: name.at };
            out.push(bracket("("));
            out.extend(expanded.into_iter().flatten());
            out.push(bracket(")"));
        }
        Ok(out)
    }

    fn spend(&mut self, tokens: usize, at: Token<'_>) -> Result<(), ShaderError> {
        self.spent = self.spent.saturating_add(tokens);
        if self.spent > limits::EXPANDED_TOKENS {
            return Err(self.too_large("tokens after macro expansion", limits::EXPANDED_TOKENS, at));
        }
        Ok(())
    }

    fn too_large(&self, what: &'static str, limit: usize, token: Token<'_>) -> ShaderError {
        let place = Label { span: token.at..token.at + token.text.len(), text: "here".into() };
        ShaderError::too_large(self.label, what, limit as u64 + 1, limit as u64).at(self.text, &[place])
    }
}

enum Item<'a> {
    Token(Token<'a>),
    /// The innermost macro's replacement ends here.
    End,
}

/// Takes `( … )` from the front of the input, split at its outermost commas, or nothing if no bracket follows.
fn take_arguments<'a>(todo: &mut Vec<Item<'a>>) -> Option<Vec<Vec<Token<'a>>>> {
    let open = todo.iter().rposition(|item| matches!(item, Item::Token(_)))?;
    if !matches!(&todo[open], Item::Token(t) if t.text == "(") {
        return None;
    }
    // Ends of macros before and inside the arguments stay behind, so that nothing is hidden for too long or short.
    let mut ends = todo.len() - 1 - open;
    todo.truncate(open);
    let (mut arguments, mut depth) = (vec![Vec::new()], 1_usize);
    while let Some(item) = todo.pop() {
        let Item::Token(token) = item else {
            ends += 1;
            continue;
        };
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 1 => {
                arguments.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if let Some(last) = arguments.last_mut() {
            last.push(token);
        }
    }
    todo.extend(std::iter::repeat_with(|| Item::End).take(ends));
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ShaderErrorKind as Kind;

    fn what(result: Result<(), ShaderError>) -> &'static str {
        match result {
            Ok(()) => "",
            Err(e) => match e.kind() {
                Kind::TooLarge { what, .. } => what,
                other => panic!("{other:?}"),
            },
        }
    }

    fn glsl_body(body: &str) -> &'static str {
        what(glsl("x", &format!("#version 450\n{body}"), &[]))
    }

    #[test]
    fn nesting_chains_and_branches_are_counted() {
        assert_eq!(what(wgsl("x", &"(".repeat(limits::NESTING))), "");
        assert_eq!(what(wgsl("x", &"(".repeat(limits::NESTING + 1))), "nested brackets");
        assert_eq!(what(wgsl("x", &"a+".repeat(limits::CHAIN))), "");
        assert_eq!(what(wgsl("x", &"a+".repeat(limits::CHAIN + 1))), "operators in one expression");
        assert_eq!(
            what(wgsl("x", &format!("{{{}}}", "a=b+c;".repeat(50_000)))),
            "",
            "separate statements do not add up"
        );
        assert_eq!(what(wgsl("x", &format!("f({}", "-a,".repeat(50_000)))), "", "nor do arguments");
        assert_eq!(what(wgsl("x", &"{x}else if (y) ".repeat(limits::ELSE_BRANCHES + 1))), "else branches");
        assert_eq!(what(wgsl("x", &"if(x){y;}else{z;}".repeat(5_000))), "", "separate ifs do not add up");
        assert_eq!(what(wgsl("x", &"const a=1;".repeat(limits::DECLARATIONS + 1))), "declarations");
        assert_eq!(glsl_body(&"if(a)".repeat(limits::CHAIN)), "operators in one expression");
        assert_eq!(glsl_body(&"do ".repeat(limits::CHAIN + 1)), "operators in one expression");
    }

    #[test]
    fn comments_do_not_count() {
        assert_eq!(
            what(wgsl("x", &format!("/*{}/* */ {}*/ //{}\n", "(".repeat(500), "(".repeat(500), "(".repeat(500)))),
            ""
        );
        assert_eq!(what(wgsl("x", &format!("/* /* */ */ {}", "(".repeat(500)))), "nested brackets");
        assert_eq!(glsl_body(&format!("/* /* */ {}", "(".repeat(500))), "nested brackets");
    }

    #[test]
    fn macros_count_as_what_they_expand_to() {
        let doubling = |n: usize| (0..n).map(|i| format!("#define A{} A{i} A{i}\n", i + 1)).collect::<String>();
        assert_eq!(glsl_body(&format!("{}A4", doubling(4))), "");
        assert_eq!(glsl_body(&format!("{}A40", doubling(40))), "tokens after macro expansion");
        let twice = "#define F(x) x;x\n";
        assert_eq!(
            glsl_body(&format!("{twice}{}1{}", "F(".repeat(60), ")".repeat(60))),
            "tokens after macro expansion"
        );
        assert_eq!(
            glsl_body(&format!("{twice}#define G F\n{}1{}", "G(".repeat(40), ")".repeat(40))),
            "tokens after macro expansion"
        );
        let open = format!("#define P {}\n", "(".repeat(50));
        assert_eq!(glsl_body(&format!("{open}P P")), "");
        assert_eq!(glsl_body(&format!("{open}P P P")), "nested brackets");
        let hidden = format!("#define P {}\n#ifdef NEVER\n#define P\n#endif\nP P P", "(".repeat(50));
        assert_eq!(glsl_body(&hidden), "nested brackets", "a definition that may not count cannot hide one that may");
        assert_eq!(glsl_body("#define X X Y\n#define Y X Y\nX"), "", "recursive macros end");
        let chain: String = (0..200).map(|i| format!("#define C{} C{i}\n", i + 1)).collect();
        assert_eq!(glsl_body(&format!("{chain}C200")), "macros inside macros");
    }

    #[test]
    fn version_lines_are_judged() {
        let unsupported = |text: &str| match glsl("x", text, &[]).expect_err(text).kind() {
            Kind::Unsupported { what } => what.clone(),
            other => panic!("{other:?}"),
        };
        assert!(glsl("x", "// first\n/* # */ # version 460 core\n", &[]).is_ok());
        assert_eq!(unsupported("#version 300 es\nvoid main() {}"), "GLSL ES input");
        assert_eq!(unsupported("#version 310 es"), "GLSL ES input");
        assert_eq!(unsupported("#version 330 core"), "this GLSL version");
        assert_eq!(unsupported("#version 450 compatibility"), "this GLSL version");
        assert_eq!(unsupported("void main() {}"), "GLSL without a version");
        assert_eq!(unsupported(""), "GLSL without a version");
    }
}
