//! Enumerations as names in files. Names come from the tables of the vocabulary, never from casing rules.

use std::fmt;
use std::marker::PhantomData;

use rhizo_rhi::Format;
use rhizo_rhi::{ACCESS_NAMES, Access, Aspects, LAYOUT_NAMES, Layout, QueueKind, STAGE_NAMES, Stages};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::declare::{AccessKind, PassKind};

/// A value with one name in files.
pub(super) trait Named: Sized + Copy {
    /// What it is, for messages.
    const WHAT: &'static str;
    fn name(self) -> &'static str;
    fn from_name(name: &str) -> Option<Self>;
    /// All names, for messages.
    fn names() -> Vec<&'static str>;
}

macro_rules! named {
    ($type:ty, $what:literal, $all:expr) => {
        impl Named for $type {
            const WHAT: &'static str = $what;
            fn name(self) -> &'static str {
                <$type>::name(self)
            }
            fn from_name(name: &str) -> Option<Self> {
                $all.into_iter().find(|value: &Self| value.name() == name)
            }
            fn names() -> Vec<&'static str> {
                $all.into_iter().map(|value: Self| value.name()).collect()
            }
        }
    };
}

named!(QueueKind, "queue kind", QueueKind::ALL);
named!(PassKind, "pass kind", PassKind::ALL);
named!(AccessKind, "access", AccessKind::all());
named!(Layout, "layout", LAYOUT_NAMES.iter().map(|(layout, _)| *layout));
named!(Format, "format", Format::all().iter().map(|row| row.format));

/// A [`Named`] value as a JSON string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<T>(pub T);

impl<T: Named> Serialize for Name<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

struct NameVisitor<T>(PhantomData<T>);

impl<T: Named> Visitor<'_> for NameVisitor<T> {
    type Value = Name<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a {}", T::WHAT)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Name<T>, E> {
        T::from_name(text).map(Name).ok_or_else(|| E::custom(unknown(T::WHAT, text, &T::names())))
    }
}

impl<'de, T: Named> Deserialize<'de> for Name<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor(PhantomData))
    }
}

fn unknown(what: &str, text: &str, names: &[&str]) -> String {
    // Long lists (formats) say more in the documentation than in a message.
    let shown: String = text.chars().take(64).collect();
    if names.len() > 30 {
        format!("unknown {what} `{shown}`")
    } else {
        format!("unknown {what} `{shown}`, expected one of {}", names.join(", "))
    }
}

/// A set of flags with names in files.
pub(super) trait NamedFlags: Sized + Copy + Default {
    const WHAT: &'static str;
    fn from_name(name: &str) -> Option<Self>;
    fn join(self, other: Self) -> Self;
    /// The names in it, in bit order.
    fn list(self) -> Vec<&'static str>;
}

/// Stages as in files; `host` and `present` lie outside queues and have no bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct StageList {
    /// The stages of queues.
    pub stages: Stages,
    /// `host` or `present` was named.
    pub outside: bool,
}

impl NamedFlags for StageList {
    const WHAT: &'static str = "stage";

    fn from_name(name: &str) -> Option<Self> {
        let stages = match name {
            "all-graphics" => Stages::ALL_GRAPHICS,
            "all-shading" => Stages::ALL_SHADING,
            "all" => crate::plan::known(Stages::ALL),
            "host" | "present" => return Some(Self { stages: Stages::empty(), outside: true }),
            _ => STAGE_NAMES.iter().find(|(_, known)| *known == name)?.0,
        };
        Some(Self { stages, outside: false })
    }

    fn join(self, other: Self) -> Self {
        Self { stages: self.stages | other.stages, outside: self.outside | other.outside }
    }

    fn list(self) -> Vec<&'static str> {
        STAGE_NAMES.iter().filter(|(stage, _)| self.stages.contains(*stage)).map(|(_, name)| *name).collect()
    }
}

impl NamedFlags for Access {
    const WHAT: &'static str = "memory access";

    fn from_name(name: &str) -> Option<Self> {
        ACCESS_NAMES.iter().find(|(_, known)| *known == name).map(|(access, _)| *access)
    }

    fn join(self, other: Self) -> Self {
        self | other
    }

    fn list(self) -> Vec<&'static str> {
        ACCESS_NAMES.iter().filter(|(access, _)| self.contains(*access)).map(|(_, name)| *name).collect()
    }
}

const ASPECT_NAMES: [(Aspects, &str); 3] =
    [(Aspects::COLOR, "color"), (Aspects::DEPTH, "depth"), (Aspects::STENCIL, "stencil")];

impl NamedFlags for Aspects {
    const WHAT: &'static str = "aspect";

    fn from_name(name: &str) -> Option<Self> {
        ASPECT_NAMES.iter().find(|(_, known)| *known == name).map(|(aspect, _)| *aspect)
    }

    fn join(self, other: Self) -> Self {
        self | other
    }

    fn list(self) -> Vec<&'static str> {
        ASPECT_NAMES.iter().filter(|(aspect, _)| self.contains(*aspect)).map(|(_, name)| *name).collect()
    }
}

/// [`NamedFlags`] as a JSON list of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags<T>(pub T);

impl<T: NamedFlags> Serialize for Flags<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.0.list();
        let mut list = serializer.serialize_seq(Some(names.len()))?;
        for name in names {
            list.serialize_element(name)?;
        }
        list.end()
    }
}

struct FlagsVisitor<T>(PhantomData<T>);

impl<'de, T: NamedFlags> Visitor<'de> for FlagsVisitor<T> {
    type Value = Flags<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of names of {}s", T::WHAT)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Flags<T>, A::Error> {
        let mut flags = T::default();
        while let Some(name) = list.next_element::<std::borrow::Cow<'de, str>>()? {
            let one = T::from_name(&name).ok_or_else(|| A::Error::custom(unknown(T::WHAT, &name, &[])))?;
            flags = flags.join(one);
        }
        Ok(Flags(flags))
    }
}

impl<'de, T: NamedFlags> Deserialize<'de> for Flags<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FlagsVisitor(PhantomData))
    }
}
