//! Typed reading of a JSON document that always knows the JSON pointer of where it is.

use serde_json::Value;

use super::error::{Fault, Reason, Result};

/// A value and its place in the document.
#[derive(Clone)]
pub(super) struct Json<'a> {
    pub value: &'a Value,
    pub path: String,
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Largest magnitude at which every whole number is a distinct `f64`.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

impl<'a> Json<'a> {
    pub fn root(value: &'a Value) -> Self {
        Self { value, path: String::new() }
    }

    pub fn fault(&self, reason: Reason) -> Fault {
        Fault::new(self.path.clone(), reason)
    }

    pub fn invalid(&self, message: impl Into<String>) -> Fault {
        Fault::value(self.path.clone(), message)
    }

    fn wrong(&self, expected: &'static str) -> Fault {
        self.fault(Reason::Type { expected, found: kind(self.value) })
    }

    pub fn check_object(&self) -> Result<()> {
        if self.value.is_object() { Ok(()) } else { Err(self.wrong("an object")) }
    }

    /// A member of this object, `None` when absent. (A JSON null is a present value of the wrong type.)
    pub fn get(&self, key: &str) -> Result<Option<Json<'a>>> {
        let map = self.value.as_object().ok_or_else(|| self.wrong("an object"))?;
        Ok(map.get(key).map(|value| Json { value, path: self.child_path(key) }))
    }

    pub fn need(&self, key: &'static str) -> Result<Json<'a>> {
        self.get(key)?.ok_or_else(|| self.fault(Reason::Missing(key)))
    }

    fn child_path(&self, key: &str) -> String {
        format!("{}/{}", self.path, key.replace('~', "~0").replace('/', "~1"))
    }

    /// The extension object of that name on this object.
    pub fn extension(&self, name: &str) -> Result<Option<Json<'a>>> {
        match self.get("extensions")? {
            Some(all) => {
                let found = all.get(name)?;
                if let Some(extension) = &found {
                    extension.check_object()?;
                }
                Ok(found)
            }
            None => Ok(None),
        }
    }

    pub fn members(&self) -> Result<Vec<(&'a str, Json<'a>)>> {
        let map = self.value.as_object().ok_or_else(|| self.wrong("an object"))?;
        Ok(map.iter().map(|(k, value)| (k.as_str(), Json { value, path: self.child_path(k) })).collect())
    }

    pub fn items(&self) -> Result<Vec<Json<'a>>> {
        let array = self.value.as_array().ok_or_else(|| self.wrong("an array"))?;
        let item = |(i, value)| Json { value, path: format!("{}/{i}", self.path) };
        Ok(array.iter().enumerate().map(item).collect())
    }

    /// The array member `key`, empty when absent; every element must be an object.
    pub fn objects(&self, key: &str) -> Result<Vec<Json<'a>>> {
        let Some(array) = self.get(key)? else { return Ok(Vec::new()) };
        let items = array.items()?;
        items.iter().try_for_each(Json::check_object)?;
        Ok(items)
    }

    pub fn as_str(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.wrong("a string"))
    }

    /// A whole number >= 0. Writers may spell it `1.0` or `10e-1` (glTF 2.0, section 3.6.1).
    pub fn as_uint(&self) -> Result<u64> {
        if let Some(n) = self.value.as_u64() {
            return Ok(n);
        }
        match self.value.as_f64() {
            // The guard makes the cast exact.
            Some(f) if (0.0..=MAX_EXACT).contains(&f) && f.fract() == 0.0 => Ok(f as u64),
            _ => Err(self.wrong("a whole number that is not negative")),
        }
    }

    pub fn as_f32(&self) -> Result<f32> {
        let wide = self.value.as_f64().ok_or_else(|| self.wrong("a number"))?;
        let narrow = wide as f32;
        if narrow.is_finite() { Ok(narrow) } else { Err(self.invalid("the number does not fit a 32-bit float")) }
    }

    /// An index below `count` into the file's array of `what`.
    pub fn as_index(&self, what: &'static str, count: usize) -> Result<usize> {
        let index = self.as_uint()?;
        match usize::try_from(index) {
            Ok(i) if i < count => Ok(i),
            _ => Err(self.fault(Reason::Unresolved { what, index, count })),
        }
    }

    pub fn index(&self, key: &str, what: &'static str, count: usize) -> Result<Option<usize>> {
        self.get(key)?.map(|j| j.as_index(what, count)).transpose()
    }

    pub fn uint(&self, key: &str) -> Result<Option<u64>> {
        self.get(key)?.map(|j| j.as_uint()).transpose()
    }

    pub fn f32(&self, key: &str) -> Result<Option<f32>> {
        self.get(key)?.map(|j| j.as_f32()).transpose()
    }

    /// A number that defaults when absent and must be at least `min`.
    pub fn f32_at_least(&self, key: &str, min: f32, default: f32) -> Result<f32> {
        let Some(j) = self.get(key)? else { return Ok(default) };
        let value = j.as_f32()?;
        if value >= min { Ok(value) } else { Err(j.invalid(format!("{value} is below {min}"))) }
    }

    /// A factor in 0..=1 that defaults when absent.
    pub fn unit(&self, key: &str, default: f32) -> Result<f32> {
        let Some(j) = self.get(key)? else { return Ok(default) };
        let value = j.as_f32()?;
        if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(j.invalid(format!("{value} is not in 0..=1"))) }
    }

    pub fn bool(&self, key: &str) -> Result<Option<bool>> {
        self.get(key)?.map(|j| j.value.as_bool().ok_or_else(|| j.wrong("a boolean"))).transpose()
    }

    pub fn str(&self, key: &str) -> Result<Option<&'a str>> {
        self.get(key)?.map(|j| j.as_str()).transpose()
    }

    pub fn floats<const N: usize>(&self, key: &str) -> Result<Option<[f32; N]>> {
        let Some(j) = self.get(key)? else { return Ok(None) };
        let items = j.items()?;
        if items.len() != N {
            return Err(j.invalid(format!("expected {N} numbers, found {}", items.len())));
        }
        let mut out = [0.0; N];
        for (slot, item) in out.iter_mut().zip(&items) {
            *slot = item.as_f32()?;
        }
        Ok(Some(out))
    }

    /// The name for people: "name" of this object, else empty.
    pub fn name(&self) -> Result<String> {
        Ok(self.str("name")?.unwrap_or_default().to_owned())
    }
}
