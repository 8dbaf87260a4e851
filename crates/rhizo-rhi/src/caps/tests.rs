use std::collections::HashSet;

use super::*;

fn available(source: &'static str) -> Support {
    Support::core(Provenance::NativeFeatureQuery, source)
}

/// Everything usable, every bound of every level met exactly.
fn full() -> Capabilities {
    let mut builder = CapabilitiesBuilder::new();
    for fact in Fact::ALL {
        builder.set(*fact, Capability::direct(available("test")));
    }
    for level in FeatureLevel::ALL {
        for (kind, bound) in level.floor().limits {
            let (Bound::AtLeast(value) | Bound::AtMost(value)) = *bound;
            builder.limit(*kind, value);
        }
        for (format, _) in level.floor().formats {
            let support = FormatSupport {
                filterable: true,
                blendable: true,
                renderable: true,
                storage_write: true,
                vertex: true,
                ..FormatSupport::default()
            };
            builder.format(*format, support);
        }
    }
    builder.finish()
}

fn kebab(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.chars().all(fits) && !name.starts_with('-') && !name.ends_with('-')
}

#[test]
fn facts_have_unique_stable_names_in_their_domain() {
    let mut seen = HashSet::new();
    for fact in Fact::ALL {
        let (domain, name) = fact.name().split_once('.').expect("domain.fact");
        assert_eq!(domain, fact.domain().name());
        assert!(kebab(name) && kebab(domain), "{}", fact.name());
        assert!(seen.insert(fact.name()), "{} twice", fact.name());
        assert_eq!(Fact::from_name(fact.name()), Some(*fact));
        assert!(fact.meaning().ends_with('.') && fact.meaning().len() > 8, "{} says too little", fact.name());
        assert!(fact.domain().facts().contains(fact));
    }
    assert_eq!(Domain::ALL.len(), 14);
    assert_eq!(Domain::ALL.iter().map(|domain| domain.facts().len()).sum::<usize>(), Fact::ALL.len());
    assert_eq!(Fact::from_name("raster.teleport"), None);
}

#[test]
fn every_fact_is_stored_apart_from_all_others() {
    for fact in Fact::ALL {
        let mut builder = CapabilitiesBuilder::new();
        builder.set(*fact, Capability::direct(available("one")));
        let caps = builder.finish();
        let on: Vec<&Fact> = Fact::ALL.iter().filter(|other| caps.has(**other)).collect();
        assert_eq!(on, [fact]);
    }
}

#[test]
fn default_has_nothing_and_says_why() {
    let caps = Capabilities::default();
    for entry in caps.entries() {
        assert!(!entry.native);
        assert_eq!((entry.lowered, entry.qualified, entry.strategy), ("no", "not-run", "unavailable"));
        assert_eq!(entry.reason, Some("not reported by this backend"));
    }
    assert_eq!(caps.entries().count(), Fact::ALL.len());
    assert!(LimitKind::ALL.iter().all(|kind| caps.limit(*kind).is_none()));
    assert_eq!(caps.limit_or(LimitKind::Texture2dSize, 2048), 2048);
    assert!(Domain::ALL.iter().all(|domain| caps.native_tier(*domain) == Tier::Unavailable));
    assert_eq!(caps.feature_level(), None);
    assert!(caps.domain_values().is_empty());
}

#[test]
fn unavailable_always_has_a_reason_and_available_never() {
    for reason in ["", "   ", "driver too old"] {
        let support = Support::unavailable(Provenance::NativeExtensionQuery, "VK_EXT_x", reason);
        assert!(!support.is_available());
        assert!(!support.reason().expect("a reason").trim().is_empty());
    }
    assert_eq!(Support::unavailable(Provenance::ApiVersion, "", "").reason(), Some("unnamed source says no"));
    let makers: [fn(Provenance, &'static str) -> Support; 4] =
        [Support::core, Support::extension, Support::specialized, Support::library];
    for make in makers {
        let support = make(Provenance::ApiVersion, "1.3");
        assert!(support.is_available() && support.reason().is_none());
        assert_ne!(support.strategy(), Strategy::Unavailable);
    }
}

#[test]
fn columns_are_independent() {
    let no = || Support::unavailable(Provenance::BackendContract, "WebGPU", "the API has none");
    let direct = Capability::direct(no());
    assert!(!direct.usable());
    assert_eq!(direct.reason(), Some("the API has none"));

    let hidden = Capability::native_only(available("meshShader"), "no call for it yet");
    assert!(hidden.native().is_available() && !hidden.usable());
    assert_eq!(hidden.reason(), Some("no call for it yet"));
    assert_eq!(Capability::native_only(no(), "no call for it yet").reason(), Some("the API has none"));
    assert!(Capability::native_only(available("x"), "").reason().is_some_and(|reason| !reason.is_empty()));

    let helped = Capability::helper(no(), "a constant buffer");
    assert!(helped.usable() && !helped.native().is_available());
    assert_eq!(helped.reason(), Some("a constant buffer"));
}

#[test]
fn require_names_each_missing_fact_with_its_reason() {
    let mut builder = CapabilitiesBuilder::new();
    builder.set(Fact::ComputePipelines, Capability::direct(available("core")));
    builder.set(Fact::MeshShaders, Capability::native_only(available("meshShader"), "no mesh pipelines yet"));
    let native = Support::unavailable(Provenance::NativeExtensionQuery, "VK_KHR_ray_query", "rayQuery is false");
    builder.set(Fact::InlineQueries, Capability::direct(native));
    let caps = builder.finish();

    assert!(caps.require(&[]).is_ok());
    assert!(caps.require(&[Fact::ComputePipelines]).is_ok());
    let error = caps.require(&[Fact::ComputePipelines, Fact::MeshShaders, Fact::InlineQueries]).unwrap_err();
    assert_eq!(error.clause_id(), Some("RHZ-CAPS-1"));
    assert_eq!(error.kind(), crate::error::ErrorKind::Unsupported);
    let mesh = "mesh.mesh-shaders is unavailable: the device can, but no mesh pipelines yet";
    let rays = "ray-tracing.inline-queries is unavailable: rayQuery is false";
    assert_eq!(error.detail(), format!("{mesh}; {rays}"));
    assert!(error.site().file().ends_with("tests.rs"));
}

#[test]
fn ladders_cover_all_domains_with_facts_of_their_own() {
    assert_eq!(LADDERS.len(), Domain::ALL.len());
    for (ladder, domain) in LADDERS.iter().zip(Domain::ALL) {
        assert_eq!(ladder.domain, *domain);
        assert!((1..=4).contains(&ladder.rungs.len()));
        let mut seen = HashSet::new();
        for rung in ladder.rungs {
            assert!(!rung.facts.is_empty() && !rung.meaning.is_empty());
            for fact in rung.facts {
                assert_eq!(fact.domain(), *domain, "{} is in a foreign ladder", fact.name());
                assert!(seen.insert(*fact), "{} is on two rungs", fact.name());
            }
        }
    }
}

#[test]
fn tiers_are_the_highest_rung_whose_lower_rungs_hold() {
    for ladder in LADDERS {
        assert_eq!(full().tier(ladder.domain), Tier::ALL[ladder.rungs.len()]);
        for (index, rung) in ladder.rungs.iter().enumerate() {
            for removed in rung.facts {
                let tier = ladder.tier(|fact| fact != *removed);
                assert_eq!(tier, Tier::ALL[index], "without {}", removed.name());
            }
        }
    }
    // The H200's case: pipelines without inline queries are still no tier, but remain a fact.
    let tier = Ladder::of(Domain::RayTracing).tier(|fact| fact != Fact::InlineQueries);
    assert_eq!(tier, Tier::Unavailable);
}

#[test]
fn tiers_grow_with_facts() {
    for ladder in LADDERS {
        let all: Vec<Fact> = ladder.rungs.iter().flat_map(|rung| rung.facts.iter().copied()).collect();
        for subset in 0_u32..1 << all.len() {
            let has = |mask: u32| {
                let all = &all;
                move |fact: Fact| all.iter().position(|f| *f == fact).is_some_and(|i| mask >> i & 1 == 1)
            };
            let tier = ladder.tier(has(subset));
            for added in 0..all.len() {
                assert!(ladder.tier(has(subset | 1 << added)) >= tier, "{:?} fell", ladder.domain);
            }
        }
    }
}

#[test]
fn levels_nest_and_name_what_is_missing() {
    assert_eq!(full().feature_level(), Some(FeatureLevel::MultiQueue));
    for (index, level) in FeatureLevel::ALL.into_iter().enumerate() {
        assert_eq!(FeatureLevel::from_name(level.name()), Some(level));
        let below = index.checked_sub(1).map(|lower| FeatureLevel::ALL[lower]);
        for fact in level.floor().facts {
            let mut caps = full();
            let reason = Support::unavailable(Provenance::ApiVersion, "1.0", "too old");
            *caps.capability_mut(*fact) = Capability::direct(reason);
            assert_eq!(caps.feature_level(), below, "without {}", fact.name());
            assert_eq!(caps.missing_for(level), [format!("{} is unavailable: too old", fact.name())]);
            assert_eq!(caps.missing_for(FeatureLevel::MultiQueue).len(), 1);
        }
        for (format, usage) in level.floor().formats {
            let mut caps = full();
            caps.formats.retain(|(f, _)| f != format);
            assert!(caps.feature_level() <= below, "without {}", format.name());
            let line = format!("{} is not {}", format.name(), usage.name());
            assert!(caps.missing_for(level).contains(&line));
        }
    }
}

#[test]
fn levels_check_every_limit_in_its_direction() {
    for level in FeatureLevel::ALL {
        for (kind, bound) in level.floor().limits {
            let (Bound::AtLeast(value) | Bound::AtMost(value)) = *bound;
            let worse = if matches!(bound, Bound::AtLeast(_)) { value - 1 } else { value + 1 };
            let mut caps = full();
            caps.limits.set(*kind, worse);
            assert!(!caps.missing_for(level).is_empty(), "{} {worse}", kind.name());
            assert!(caps.feature_level() < Some(level));
        }
    }
    let mut caps = full();
    caps.limits = Limits::default();
    assert!(caps.missing_for(FeatureLevel::Raster).iter().any(|line| line == "limit tables is not reported"));
}

#[test]
fn native_level_ignores_what_the_backend_leaves_out() {
    let mut caps = full();
    *caps.capability_mut(Fact::BindlessTextures) = Capability::native_only(available("x"), "not offered yet");
    assert_eq!(caps.feature_level(), Some(FeatureLevel::Compute));
    assert_eq!(caps.native_feature_level(), Some(FeatureLevel::MultiQueue));
    let missing = "binding.bindless-textures is unavailable: the device can, but not offered yet";
    assert_eq!(caps.missing_for(FeatureLevel::Bindless), [missing]);
}

#[test]
fn limits_have_unique_names_and_a_source_somewhere() {
    let mut seen = HashSet::new();
    for kind in LimitKind::ALL {
        assert!(kebab(kind.name()) && seen.insert(kind.name()), "{}", kind.name());
        assert!(kind.meaning().ends_with('.'));
        let s = kind.sources();
        let all = [s.vulkan, s.d3d12, s.metal, s.webgpu, s.gles];
        assert!(all.iter().all(|source| !source.is_empty()), "{}", kind.name());
        assert!(all.iter().any(|source| *source != "-"), "{}", kind.name());
    }
    assert!(LimitKind::ALL.len() >= 60, "{}", LimitKind::ALL.len());
}

#[test]
fn report_is_aligned_and_complete() {
    let mut builder = CapabilitiesBuilder::new();
    builder.set(Fact::MeshShaders, Capability::native_only(available("meshShader"), "no mesh pipelines yet"));
    builder.limit(LimitKind::BufferSize, 3 << 30).limit(LimitKind::StorageRange, u64::from(u32::MAX));
    builder.limit(LimitKind::Texture2dSize, 16384);
    builder.values().mesh.max_vertices = Some(256);
    let text = builder.finish().report().to_string();
    for domain in Domain::ALL {
        assert!(text.contains(&format!("\n{} (native: ", domain.name())), "{} is missing", domain.name());
    }
    for fact in Fact::ALL {
        let name = fact.name().split_once('.').expect("domain.fact").1;
        assert!(text.contains(&format!("\n  {name} ")), "{} is missing", fact.name());
    }
    assert!(text.contains("  mesh-shaders  yes     no      not run    meshShader (no mesh pipelines yet)\n"), "{text}");
    assert!(text.contains("3 221 225 472  bytes (3 GiB)\n"), "{text}");
    assert!(text.contains("4 294 967 295  bytes (4.0 GiB)\n"), "{text}");
    assert!(text.contains("16 384  texels\n"));
    assert!(text.contains("  max-vertices: 256\n"));
    assert!(text.lines().all(|line| !line.ends_with(' ')), "trailing spaces");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn report_says_a_shared_reason_once_and_wraps_long_texts() {
    let mut builder = CapabilitiesBuilder::new();
    let long = "a source of many words ".repeat(12);
    for fact in [Fact::MeshShaders, Fact::TaskShaders] {
        let native = Support::core(Provenance::ApiVersion, long.trim().to_owned());
        builder.set(fact, Capability::native_only(native, "no mesh pipelines yet"));
    }
    let text = builder.finish().report().to_string();
    assert_eq!(text.matches("no mesh pipelines yet").count(), 1, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120));
    assert_eq!(text.matches("words").count(), 24);
}

#[test]
fn summary_is_short() {
    let caps = full();
    let text = caps.report().summary().to_string();
    assert_eq!(text.lines().count(), 2 + 1 + Domain::ALL.len());
    assert!(text.starts_with("Feature level: multi-queue (of the driver alone: multi-queue)\n"));
}

/// The tables of `docs/capabilities.md`, as the code has them.
fn tables() -> String {
    let mut out = String::from("## Facts\n\n");
    for domain in Domain::ALL {
        out += &format!("### {}\n\n| fact | meaning |\n|---|---|\n", domain.name());
        for fact in domain.facts() {
            out += &format!("| `{}` | {} |\n", fact.name(), fact.meaning());
        }
        out += "\n| tier | adds | facts |\n|---|---|---|\n";
        for (index, rung) in Ladder::of(*domain).rungs.iter().enumerate() {
            let facts: Vec<String> = rung.facts.iter().map(|fact| format!("`{}`", fact.name())).collect();
            out += &format!("| {} | {} | {} |\n", index + 1, rung.meaning, facts.join(", "));
        }
        out.push('\n');
    }
    out += "## Feature levels\n\n";
    for level in FeatureLevel::ALL {
        out += &format!("### {}\n\n", level.name());
        for fact in level.floor().facts {
            out += &format!("- `{}`\n", fact.name());
        }
        for (kind, bound) in level.floor().limits {
            let bound = match bound {
                Bound::AtLeast(value) => format!("at least {value}"),
                Bound::AtMost(value) => format!("at most {value}"),
            };
            out += &format!("- limit `{}` {bound}\n", kind.name());
        }
        for (format, usage) in level.floor().formats {
            out += &format!("- format `{}` {}\n", format.name(), usage.name());
        }
        out.push('\n');
    }
    out += "## Limits\n\n| limit | unit | meaning | Vulkan | D3D12 | Metal | WebGPU | GLES |\n";
    out += "|---|---|---|---|---|---|---|---|\n";
    for kind in LimitKind::ALL {
        let s = kind.sources();
        let (unit, meaning) = (kind.unit().name(), kind.meaning());
        out += &format!("| `{}` | {unit} | {meaning} ", kind.name());
        out += &format!("| {} | {} | {} | {} | {} |\n", s.vulkan, s.d3d12, s.metal, s.webgpu, s.gles);
    }
    out
}

#[test]
fn the_page_has_the_tables_of_the_code() {
    const MARK: &str = "<!-- From here on written by the test `the_page_has_the_tables_of_the_code`. -->\n\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/capabilities.md");
    let page = std::fs::read_to_string(path).expect("docs/capabilities.md");
    let (words, old) = page.split_once(MARK).expect("the mark before the tables");
    if std::env::var_os("RHIZO_BLESS").is_some() {
        std::fs::write(path, format!("{words}{MARK}{}", tables())).expect("the page can be written");
        return;
    }
    assert!(old == tables(), "docs/capabilities.md is out of date: run this test once with RHIZO_BLESS=1");
}
