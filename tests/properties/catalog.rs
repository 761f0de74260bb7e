//! What holds for every catalog, however a model asks (SPEC 11).

use proptest::prelude::*;
use proptest::sample::{Index, select};
use skillgraph::core::catalog::{CatalogEntry, Opened, SkillPolicy, ToolHeader, header_block, search_skills};

/// What a model asks for.
#[derive(Debug, Clone)]
enum Ask {
    Open(Index, Option<String>),
    Bind(Index, Vec<String>),
    /// The catalog loses a skill.
    Lose(Index),
}

/// Names that skills share, and one that none has.
fn tool_name() -> impl Strategy<Value = String> {
    select(vec!["t0", "t1", "t2", "t3", "t4", "t5", "t6", "ghost"]).prop_map(str::to_owned)
}

fn entry(at: usize, names: Vec<String>, default_bind: Vec<String>) -> CatalogEntry {
    let mut tools: Vec<ToolHeader> = Vec::new();
    for name in names.into_iter().filter(|name| name != "ghost") {
        if !tools.iter().any(|tool| tool.name == name) {
            tools.push(ToolHeader { name, description: None });
        }
    }
    CatalogEntry { key: format!("k{at}"), title: format!("Skill {at}"), tools, default_bind, ..CatalogEntry::default() }
}

fn catalog() -> impl Strategy<Value = Vec<CatalogEntry>> {
    let names = || prop::collection::vec(tool_name(), 0..8);
    prop::collection::vec((names(), names()), 1..6).prop_map(|skills| {
        skills.into_iter().enumerate().map(|(at, (names, default))| entry(at, names, default)).collect()
    })
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let query = prop::option::of(select(vec!["", "  ", "pay it back"]).prop_map(str::to_owned));
    let ask = prop_oneof![
        4 => (any::<Index>(), query).prop_map(|(at, query)| Ask::Open(at, query)),
        4 => (any::<Index>(), prop::collection::vec(tool_name(), 0..9)).prop_map(|(at, names)| Ask::Bind(at, names)),
        1 => any::<Index>().prop_map(Ask::Lose),
    ];
    prop::collection::vec(ask, 0..24)
}

fn policy() -> impl Strategy<Value = SkillPolicy> {
    (0..4usize, 0..5usize, 0..9usize).prop_map(|(max_open_skills, max_bound_tools_per_skill, max_bound_tools_total)| {
        SkillPolicy { max_open_skills, max_bound_tools_per_skill, max_bound_tools_total, ..SkillPolicy::DEFAULT }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_way_of_asking_binds_more_than_the_policy_has(mut catalog in catalog(), asks in asks(), policy in policy()) {
        let mut opened = Opened::new();
        for ask in asks {
            match ask {
                Ask::Open(at, query) => {
                    let before = opened.clone();
                    let reversed = |_: &str, tools: &[ToolHeader]| tools.iter().rev().cloned().collect();
                    let opening = opened.open(at.get(&catalog), query.as_deref(), reversed, &policy);
                    prop_assert!(opening.is_ok() || opened == before, "a refusal changed {:?}", before);
                }
                Ask::Bind(at, names) => {
                    if let Ok(binding) = opened.bind(at.get(&catalog), &names, &policy) {
                        // Every name that was asked for is answered.
                        let bound = binding.bound.iter().map(String::as_str);
                        let mut answered: Vec<&str> =
                            bound.chain(binding.not_bound.iter().map(|cut| cut.tool.as_str())).collect();
                        let mut asked: Vec<&str> = names.iter().map(String::as_str).collect();
                        answered.sort_unstable();
                        asked.sort_unstable();
                        prop_assert_eq!(answered, asked);
                    }
                }
                Ask::Lose(at) if catalog.len() > 1 => {
                    catalog.remove(at.index(catalog.len()));
                    opened.retain(|key| catalog.iter().find(|entry| entry.key == key));
                }
                Ask::Lose(_) => {}
            }
            prop_assert!(opened.skills().len() <= policy.max_open_skills);
            prop_assert!(opened.tools().len() <= policy.max_bound_tools_total);
            for skill in &catalog {
                let own = opened.tools_of(&skill.key).collect::<Vec<_>>();
                prop_assert!(own.len() <= policy.max_bound_tools_per_skill);
                prop_assert!(own.is_empty() || opened.is_open(&skill.key));
                prop_assert!(own.iter().all(|own| skill.tools.iter().any(|tool| tool.name == *own)));
            }
            let mut names: Vec<&str> = opened.tools().collect();
            names.sort_unstable();
            names.dedup();
            prop_assert_eq!(names.len(), opened.tools().len(), "a name is bound once");
            let saved = serde_json::to_string(&opened).expect("JSON");
            prop_assert_eq!(&serde_json::from_str::<Opened>(&saved).expect("saved state"), &opened);
        }
    }

    #[test]
    fn no_text_of_a_skill_ends_or_forges_the_listing(texts in prop::collection::vec((".*", ".*"), 1..4)) {
        let entry = |(key, header): (String, String)| CatalogEntry { key, header, ..CatalogEntry::default() };
        let entries: Vec<CatalogEntry> = texts.into_iter().map(entry).collect();
        let block = header_block(&entries);
        let lines: Vec<&str> = block.lines().collect();
        prop_assert_eq!(lines.len(), entries.len() + 3);
        prop_assert_eq!(block.matches(['<', '>']).count(), 4, "the two tags of the listing alone: {}", block);
    }

    #[test]
    fn a_search_gives_each_entry_once_and_no_more_than_asked(
        texts in prop::collection::vec(("[a-eé漢字ि ]{0,12}", "[a-e ]{0,12}"), 0..8),
        query in "[a-eé漢字ि ]{0,12}",
        limit in 0..9usize,
    ) {
        let entry = |(key, header): (String, String)| CatalogEntry { key, header, ..CatalogEntry::default() };
        let entries: Vec<CatalogEntry> = texts.into_iter().map(entry).collect();
        let found = search_skills(&entries, &query, limit);
        prop_assert!(found.len() <= limit.max(1));
        prop_assert!(found.iter().all(|at| *at < entries.len()));
        prop_assert!(found.iter().enumerate().all(|(place, at)| !found[..place].contains(at)));
    }
}
