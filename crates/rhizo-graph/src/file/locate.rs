//! Finds the line of a field in JSON text that is known to be well-formed.

/// The line (from 1) where the value at `path` (`passes[3].name`) starts, or `None` when there is no such path.
pub(super) fn line_of(text: &str, path: &str) -> Option<usize> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0 };
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        scanner.space();
        match step.strip_suffix(']') {
            Some(index) => scanner.enter_list(index.parse().ok()?)?,
            None => scanner.enter_object(step)?,
        }
    }
    scanner.space();
    Some(1 + scanner.bytes[..scanner.at.min(scanner.bytes.len())].iter().filter(|byte| **byte == b'\n').count())
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace() || byte == b',' || byte == b':') {
            self.at += 1;
        }
    }

    /// Moves to the value of a key; escapes in keys are not decoded, our fields have none.
    fn enter_object(&mut self, key: &str) -> Option<()> {
        (self.peek()? == b'{').then(|| self.at += 1)?;
        loop {
            self.space();
            let name = self.string()?;
            self.space();
            if name == key.as_bytes() {
                return Some(());
            }
            self.skip()?;
        }
    }

    fn enter_list(&mut self, index: usize) -> Option<()> {
        (self.peek()? == b'[').then(|| self.at += 1)?;
        for _ in 0..index {
            self.space();
            self.skip()?;
        }
        self.space();
        (self.peek()? != b']').then_some(())
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        (self.peek()? == b'"').then(|| self.at += 1)?;
        let start = self.at;
        while self.peek()? != b'"' {
            self.at += if self.peek()? == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        self.bytes.get(start..self.at - 1)
    }

    /// Skips one value, without recursion.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            self.space();
            match self.peek()? {
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b'"' => {
                    self.string()?;
                }
                _ => {
                    while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
                        self.at += 1;
                    }
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::line_of;

    #[test]
    fn lines_of_fields() {
        let text = "{\n \"a\": [1, {\"b\\\"\": \"]\", \"c\":\n 2}],\n \"d\": true\n}";
        assert_eq!(line_of(text, "a[1].c"), Some(3));
        assert_eq!(line_of(text, "d"), Some(4));
        assert_eq!(line_of(text, ""), Some(1));
        assert_eq!(line_of(text, "a[2]"), None);
        assert_eq!(line_of(text, "x"), None);
    }
}
