//! Every workload of the shared folder, with every expectation that one queue can meet.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rhizo_graph::{OrderPolicy, Profile};
use serde_json::Value;

use crate::checker::{check, plan_barriers};
use crate::model::{Cell, Model, strings};
use crate::{Compiled, compile_text};

/// `RHIZO_SHARED`, or a folder `shared` beside this repository or one of its parents.
fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("RHIZO_SHARED").map(PathBuf::from);
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("shared"));
    named.into_iter().chain(above).find(|folder| folder.join("workloads/graphs").is_dir())
}

/// The graph files by name, or `None` with a loud remark.
pub fn files() -> Option<Vec<(String, String)>> {
    let Some(root) = shared() else {
        eprintln!("SKIPPED: no folder `shared` with workloads/graphs found; set RHIZO_SHARED to run this test");
        return None;
    };
    let mut files = Vec::new();
    for folder in ["cases", "frames"] {
        for entry in std::fs::read_dir(root.join("workloads/graphs").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if let Some(stem) = name.strip_suffix(".graph.json") {
                files.push((stem.to_owned(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    assert!(files.len() >= 60, "only {} workloads found", files.len());
    Some(files)
}

#[test]
fn expectations_hold() {
    let Some(files) = files() else { return };
    let (mut failures, mut skipped) = (Vec::new(), Vec::new());
    for (name, text) in &files {
        let graph: Value = serde_json::from_str(text).unwrap();
        for profile in [Profile::single_queue(), Profile::portable()] {
            if let Err(problem) = expectations(&graph, text, &profile, &mut skipped) {
                failures.push(format!("{name} on {}: {problem}", profile.name));
            }
        }
    }
    skipped.sort();
    skipped.dedup();
    for line in &skipped {
        println!("skipped expectation: {line}");
    }
    println!("{} workloads, {} expectations skipped", files.len(), skipped.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn expectations(graph: &Value, text: &str, profile: &Profile, skipped: &mut Vec<String>) -> Result<(), String> {
    let expect = &graph["expect"];
    let compiled = compile_text(text, profile, OrderPolicy::Declaration);
    if let Some(class) = expect["error"].as_str() {
        let error = compiled.err().ok_or_else(|| format!("compiles, but must fail with {class}"))?;
        let named = !error.passes.is_empty() || !error.resources.is_empty();
        return if error.code.name() == class && named { Ok(()) } else { Err(error.to_string()) };
    }
    let compiled = compiled.map_err(|error| error.to_string())?;
    check(graph, &compiled.json)?;
    let view = View::new(graph, &compiled);
    view.culled_and_usage(expect)?;
    view.order(expect, text, profile, skipped)?;
    view.barriers(expect)?;
    view.preserved(expect)?;
    view.memory(expect, skipped)?;
    if expect.get("max_queue_waits").is_some() {
        skipped.push(format!("{}: max_queue_waits (all passes run on one queue: no waits)", graph["name"]));
        assert!(
            compiled.json["submissions"].as_array().unwrap().iter().all(|s| s["waits"].as_array().unwrap().is_empty())
        );
    }
    Ok(())
}

/// A compiled plan as the expectations look at it.
struct View<'a> {
    graph: &'a Value,
    model: Model,
    order: Vec<String>,
    plan: &'a Value,
    /// Each barrier with the number of passes before it.
    barriers: Vec<(usize, &'a Value)>,
}

impl<'a> View<'a> {
    fn new(graph: &'a Value, compiled: &'a Compiled) -> Self {
        let expect = &graph["expect"];
        let plan = &compiled.json;
        let selectors = ["must_barrier", "must_not_barrier", "must_preserve"];
        let selectors = selectors.iter().flat_map(|key| expect[*key].as_array().into_iter().flatten());
        let more: Vec<&Value> = selectors.chain(plan_barriers(plan)).collect();
        let (mut barriers, mut passes) = (Vec::new(), 0);
        for step in plan["submissions"].as_array().unwrap().iter().flat_map(|s| s["steps"].as_array().unwrap()) {
            passes += usize::from(step.get("pass").is_some());
            barriers.extend(step["barriers"].as_array().into_iter().flatten().map(|barrier| (passes, barrier)));
        }
        let order = plan["passes"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap().to_owned()).collect();
        Self { graph, model: Model::new(graph, &more), order, plan, barriers }
    }

    /// How many passes run up to and including this one; the pseudo passes lie at the ends.
    fn place(&self, pass: &str) -> Option<usize> {
        match pass {
            "@initial" => Some(0),
            "@final" => Some(self.order.len() + 1),
            _ => self.order.iter().position(|name| name == pass).map(|at| at + 1),
        }
    }

    fn touched(&self, pass: &str, resource: &str) -> BTreeSet<Cell> {
        match self.model.index.get(pass) {
            None => self.model.resources[resource].cells.clone(),
            Some(index) => {
                let own = self.model.passes[*index].accesses.iter().filter(|a| a.resource == resource);
                own.flat_map(|a| a.cells.iter().copied()).collect()
            }
        }
    }

    /// Barriers on these cells after `first` passes and before the last of `second` passes.
    fn between(&self, first: usize, second: usize, resource: &str, cells: &BTreeSet<Cell>) -> Vec<&'a Value> {
        let inside = |(at, barrier): &&(usize, &Value)| {
            let here = *at >= first && *at < second && barrier["resource"] == resource;
            here && !self.model.cells(barrier).is_disjoint(cells)
        };
        self.barriers.iter().filter(inside).map(|(_, barrier)| *barrier).collect()
    }

    fn culled_and_usage(&self, expect: &Value) -> Result<(), String> {
        let culled: BTreeSet<&str> =
            self.plan["culled"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
        let named = strings(&expect["culled"]);
        if expect.get("culled").is_some() && culled != named.iter().map(String::as_str).collect() {
            return Err(format!("culls {culled:?}, must cull {named:?}"));
        }
        for item in expect["usage"].as_array().into_iter().flatten() {
            let all = self.plan["resources"].as_array().unwrap();
            let found = all.iter().find(|r| r["name"] == item["resource"]).ok_or("a used resource is missing")?;
            let set = |value: &Value| strings(value).into_iter().collect::<BTreeSet<_>>();
            if set(&found["accesses"]) != set(&item["accesses"]) {
                return Err(format!("usage of {} is {}", item["resource"], found["accesses"]));
            }
        }
        Ok(())
    }

    fn order(&self, expect: &Value, text: &str, profile: &Profile, skipped: &mut Vec<String>) -> Result<(), String> {
        for pair in expect["must_precede"].as_array().into_iter().flatten() {
            let pair = strings(pair);
            if self.place(&pair[0]) >= self.place(&pair[1]) {
                return Err(format!("{} must precede {}", pair[0], pair[1]));
            }
        }
        let listed = strings(&expect["order"]);
        match expect["order_policy"].as_str() {
            None => Ok(()),
            Some("forced" | "stable-topological" | "program-order") if listed != self.order => {
                Err(format!("runs {:?}, must run {listed:?}", self.order))
            }
            Some("rps-memory-saving") => {
                let saving = compile_text(text, profile, OrderPolicy::Memory).map_err(|e| e.to_string())?;
                check(self.graph, &saving.json)?;
                let order: Vec<_> = saving.plan.passes.iter().map(|p| saving.plan.pass_label(p.pass)).collect();
                let used = saving.plan.memory.used;
                let bounds = ["peak_bytes_min", "peak_bytes_max"].map(|key| expect[key].as_u64().unwrap());
                let inside = (bounds[0]..=bounds[1]).contains(&used);
                if order == listed && inside { Ok(()) } else { Err(format!("memory policy runs {order:?}")) }
            }
            Some(policy) if policy.starts_with("rps-") && listed != self.order => {
                let name = self.graph["name"].as_str().unwrap();
                skipped.push(format!("{name}: order of {policy} (a scheduling policy of another compiler)"));
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    fn barriers(&self, expect: &Value) -> Result<(), String> {
        for item in expect["must_barrier"].as_array().into_iter().flatten() {
            self.must_barrier(item)?;
        }
        for item in expect["must_not_barrier"].as_array().into_iter().flatten() {
            self.must_not_barrier(item)?;
        }
        for item in expect["exactly"].as_array().into_iter().flatten() {
            assert_eq!(item["what"], "layout-transition", "the only kind in the corpus");
            let (resource, at) = (item["resource"].as_str().unwrap(), item["at"].as_str().unwrap());
            let place = self.place(at).unwrap();
            let all = self.model.resources[resource].cells.clone();
            let moves = self.between(place - 1, place, resource, &all);
            let count = moves.iter().filter(|b| b["before"]["layout"] != b["after"]["layout"]).count();
            if count as u64 != item["count"].as_u64().unwrap() {
                return Err(format!("{count} transitions of {resource} at {at}"));
            }
        }
        Ok(())
    }

    /// That the pair is ordered, visible and in the right layout is what the checker proves; here: who does it.
    fn must_barrier(&self, item: &Value) -> Result<(), String> {
        let (resource, pair) = (item["resource"].as_str().unwrap(), strings(&item["between"]));
        let what = format!("must_barrier {resource} {} -> {}", pair[0], pair[1]);
        let (Some(first), Some(second)) = (self.place(&pair[0]), self.place(&pair[1])) else {
            return Err(format!("{what}: a culled pass"));
        };
        let cells = self.model.cells(item);
        let found = self.between(first, second, resource, &cells);
        let has = |barrier: &Value, side: &str, key: &str| {
            let wanted = strings(&item[key]);
            wanted.iter().all(|stage| strings(&barrier[side]["stages"]).contains(stage))
        };
        let serves = |barrier: &&Value| {
            let previous = item["previous"].as_str();
            let alias = previous.is_none_or(|old| strings(&barrier["deactivates"]).iter().any(|name| name == old));
            has(barrier, "before", "src_stages") && has(barrier, "after", "dst_stages") && alias
        };
        if found.iter().any(serves) { Ok(()) } else { Err(format!("{what}: found {found:?}")) }
    }

    fn must_not_barrier(&self, item: &Value) -> Result<(), String> {
        let (resource, pair) = (item["resource"].as_str().unwrap(), strings(&item["between"]));
        let (Some(first), Some(second)) = (self.place(&pair[0]), self.place(&pair[1])) else {
            return Ok(()); // One of them is culled, which `culled` asserts: there is no such pair.
        };
        // Cells that the pair shares, and cells that nobody up to the second pass touches.
        let named = self.model.cells(item);
        let (one, two) = (self.touched(&pair[0], resource), self.touched(&pair[1], resource));
        let mut cells = named.clone();
        for pass in &self.order[first.min(self.order.len())..second.min(self.order.len())] {
            let touched = self.touched(pass, resource);
            cells.retain(|cell| !touched.contains(cell));
        }
        cells.extend(named.iter().filter(|cell| one.contains(cell) && two.contains(cell)));
        let found = self.between(first, second, resource, &cells);
        if found.is_empty() { Ok(()) } else { Err(format!("must_not_barrier {resource} {pair:?}: found {found:?}")) }
    }

    fn preserved(&self, expect: &Value) -> Result<(), String> {
        for item in expect["must_preserve"].as_array().into_iter().flatten() {
            let resource = item["resource"].as_str().unwrap();
            let transient = self.model.resources[resource].transient;
            let cells = self.model.cells(item);
            let found = self.between(0, self.order.len() + 1, resource, &cells);
            if !transient && found.iter().any(|barrier| barrier["before"]["layout"] == "undefined") {
                return Err(format!("{resource} starts from undefined: {found:?}"));
            }
        }
        for pair in expect["must_not_alias"].as_array().into_iter().flatten() {
            let pair = strings(pair);
            let all = self.plan["memory"]["allocations"].as_array().unwrap();
            let find = |name: &str| all.iter().find(|a| a["resource"] == name);
            let (Some(a), Some(b)) = (find(&pair[0]), find(&pair[1])) else { continue };
            let end = |x: &Value| x["offset"].as_u64().unwrap() + x["size"].as_u64().unwrap();
            let apart = a["heap"] != b["heap"]
                || end(a) <= b["offset"].as_u64().unwrap()
                || end(b) <= a["offset"].as_u64().unwrap();
            if !apart {
                return Err(format!("{pair:?} share memory"));
            }
        }
        Ok(())
    }

    fn memory(&self, expect: &Value, skipped: &mut Vec<String>) -> Result<(), String> {
        let listed = strings(&expect["order"]);
        let name = self.graph["name"].as_str().unwrap();
        if !listed.is_empty() && listed != self.order {
            if expect.get("peak_bytes_max").is_some() && expect["order_policy"] != "rps-memory-saving" {
                skipped.push(format!("{name}: peak bytes (for another order)"));
            }
            return Ok(());
        }
        let used = self.plan["memory"]["used"].as_u64().unwrap();
        let min = expect["peak_bytes_min"].as_u64().unwrap_or(0);
        let max = expect["peak_bytes_max"].as_u64().unwrap_or(u64::MAX);
        if (min..=max).contains(&used) { Ok(()) } else { Err(format!("uses {used} bytes, bounds {min}..={max}")) }
    }
}

#[test]
fn frames_of_a_pair_do_not_influence_each_other() {
    let Some(files) = files() else { return };
    let text = |name: &str| &files.iter().find(|(file, _)| file == name).unwrap().1;
    let profile = Profile::single_queue();
    for (pair, first_fails) in [("c3-optional-pass", false), ("d2-history", true)] {
        let frame = |i: u32| compile_text(text(&format!("{pair}.frame-{i}")), &profile, OrderPolicy::Declaration);
        let fresh = frame(1).unwrap().json;
        assert_eq!(frame(0).is_err(), first_fails, "{pair}");
        assert_eq!(frame(1).unwrap().json, fresh, "{pair}");
    }
}

#[test]
fn every_policy_gives_right_plans() {
    let Some(files) = files() else { return };
    let policies = [OrderPolicy::Overlap, OrderPolicy::Memory, OrderPolicy::Random(1), OrderPolicy::Random(7)];
    let mut checked = 0;
    for (name, text) in &files {
        let graph: Value = serde_json::from_str(text).unwrap();
        if graph["expect"].get("error").is_some() {
            continue;
        }
        for policy in policies {
            let compiled = compile_text(text, &Profile::single_queue(), policy).unwrap();
            check(&graph, &compiled.json).unwrap_or_else(|problem| panic!("{name}, {policy}: {problem}"));
            checked += 1;
        }
    }
    println!("{checked} plans checked");
}

/// Without any one barrier the checker objects: none is superfluous, and the checker sees each.
#[test]
fn every_barrier_is_needed() {
    let Some(files) = files() else { return };
    let mut deleted = 0;
    for (name, text) in &files {
        let graph: Value = serde_json::from_str(text).unwrap();
        let Ok(compiled) = compile_text(text, &Profile::single_queue(), OrderPolicy::Declaration) else { continue };
        // The large frames cost the naive checker too much a hundred times over; every tenth barrier is tried there.
        let stride = if compiled.plan.barriers.len() > 60 { 10 } else { 1 };
        deleted += assert_needed(name, &graph, &compiled.json, stride);
    }
    println!("{deleted} barriers deleted, each noticed");
    assert!(deleted > 300);
}

/// Deletes barriers one at a time and requires an objection; returns how many were tried.
pub fn assert_needed(name: &str, graph: &Value, plan: &Value, stride: usize) -> usize {
    let count = plan_barriers(plan).len();
    for target in (0..count).step_by(stride) {
        let mut weaker = plan.clone();
        let mut at = 0;
        let mut gone = Value::Null;
        for step in weaker["submissions"][0]["steps"].as_array_mut().unwrap() {
            if let Some(list) = step.get_mut("barriers").and_then(Value::as_array_mut) {
                if target >= at && target < at + list.len() {
                    gone = list.remove(target - at);
                    break;
                }
                at += list.len();
            }
        }
        assert!(check(graph, &weaker).is_err(), "{name}: barrier {target} is not needed: {gone}\n{plan:#}");
    }
    count.div_ceil(stride)
}
