//! The macros in the least welcoming crate that there can be: the facade has another name, there is no prelude, the author's
//! names are those of the generated module, and every lint is an error.
#![no_implicit_prelude]
#![deny(missing_docs, warnings, unused, nonstandard_style, rust_2018_idioms, unreachable_pub)]
#![forbid(unsafe_code)]

/// Names that the generated module has too.
pub mod tool {
    /// Searches.
    #[::renamed::tool(crate = ::renamed)]
    pub async fn search(
        state: &::std::sync::atomic::AtomicU32,
        query: ::std::collections::BTreeMap<::std::string::String, ::std::string::String>,
    ) -> ::std::result::Result<::std::string::String, ::std::convert::Infallible> {
        state.fetch_add(1, ::std::sync::atomic::Ordering::SeqCst);
        ::std::result::Result::Ok(::std::format!("{query:?}"))
    }
}

/// What a tool returns, with fields that are named like variables of generated code.
#[derive(::serde::Serialize)]
pub struct Found {
    /// A value.
    pub value: ::std::option::Option<u32>,
    /// Another.
    pub output: ::std::string::String,
}

/// Finds.
#[::renamed::tool(crate = ::renamed)]
pub async fn find() -> ::std::result::Result<Found, ::std::convert::Infallible> {
    ::std::result::Result::Ok(Found { value: ::std::option::Option::None, output: ::std::string::String::new() })
}

/// A type of the same name as one that the macro makes.
#[allow(dead_code)]
struct Tools;

mod skill {
    pub(super) async fn is_there() -> bool {
        true
    }

    pub(super) fn is_long(text: &str) -> bool {
        text.len() > 1000
    }
}

/// Where the graph is declared.
pub mod inner {
    ::renamed::skill_graph! {
        /// A graph among namesakes.
        #[allow(skillgraph::gate_beside_entry)]
        pub graph agent {
            tools {
                search: super::tool::Search,
                tool = "other": dyn,
                find: super::Find,
            }
            baseline: [tool];

            skill skill {
                description: "A skill",
                body: "Call {search} or {tool}.",
                tools: [search, find],
                produces: [value],
                consumes: [value],
            }

            skill graph {
                description: "A graph",
                body: "Nothing {{here}}.",
                surface: both,
                refresh: every 2 iterations,
            }

            skills from "filed";

            entry skill;
            entry r#match when keywords["match"];
            entry _2fa when keywords["code"];
            entry graph when all[keywords["graph"], |message| super::skill::is_long(message)] { examples: ["a graph"] }
            entry skill when intent("skills", ["a skill"]);
            route graph ~> skill;
            entry graph when picked;
            classify: keyword { margin: 0.2 }
            governor { then: warn }
            catalog {
                policy: { preset: small, disclosure: search },
                skill catalog = "group:catalog" {
                    header: "a catalog", prompt: "Call it.", tools: [search, tool],
                    available: super::skill::is_there,
                }
            }
            never_routes: ["none"];
            route skill -> graph on find where value > 3 && output in ["a", "b"] as "found";
            route skill -> graph on search when |out| out.len() > 3;
            route skill -> graph on any[search, tool] is absent when |result| result.call_id.len() > 3;
        }
    }
}

#[cfg(test)]
mod tests {
    use ::std::assert_eq;

    #[::core::prelude::v1::test]
    fn the_module_works_among_its_namesakes() {
        let graph = crate::inner::agent::GRAPH.compiled().expect("compiles");
        assert_eq!(graph.skills().len(), 4);
        assert_eq!(crate::inner::agent::skill::_2fa, "2fa");
        assert_eq!(crate::inner::agent::skill::r#match, "match");
        assert_eq!(graph.skills()[3].body, "Call find.");
        assert_eq!(graph.skills()[0].body, "Call search or other.");
        assert_eq!(graph.skills()[1].body, "Nothing {here}.");
        assert_eq!(crate::inner::agent::tool::tool, "other");
        assert_eq!(crate::inner::agent::catalog::catalog, "group:catalog");
    }
}
