//! The generated module. Emitting cannot fail: what could not be understood is left out, the errors stand beside.
//!
//! Structure is spanned at the macro's definition, names and types keep the author's own tokens: go-to-definition,
//! hover and rename follow them.

mod closures;
mod editor;
mod guards;
mod mentions;
mod module;
mod rebase;
mod tables;
mod tools;

use std::collections::HashMap;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use skillgraph_core::decl::GraphDecl;

use crate::ast::{Graph, Name, Route, Skill, Tool};
use crate::place::Place;

pub(crate) use module::module;

/// What every part of the output needs: the graph, the way to the facade, and which names are declared.
pub(crate) struct Emit<'a> {
    facade: &'a TokenStream,
    graph: &'a Graph,
    decl: &'a GraphDecl<Place>,
    /// The first declaration of each name; a second one is an error already.
    tools: Vec<&'a Tool>,
    /// What the model calls each of these tools.
    names: Vec<&'a str>,
    skills: Vec<(&'a Skill, usize)>,
    tool_index: HashMap<&'a str, usize>,
    skill_index: HashMap<&'a str, usize>,
}

impl<'a> Emit<'a> {
    fn new(facade: &'a TokenStream, graph: &'a Graph, decl: &'a GraphDecl<Place>) -> Self {
        let mut emit = Emit {
            facade,
            graph,
            decl,
            tools: Vec::new(),
            names: Vec::new(),
            skills: Vec::new(),
            tool_index: HashMap::new(),
            skill_index: HashMap::new(),
        };
        for (tool, declared) in graph.tools.iter().zip(&decl.tools) {
            if !emit.tool_index.contains_key(tool.ident.text.as_str()) {
                emit.tool_index.insert(&tool.ident.text, emit.tools.len());
                emit.names.push(&declared.name.text);
                emit.tools.push(tool);
            }
        }
        for (at, skill) in graph.skills.iter().enumerate() {
            if !emit.skill_index.contains_key(skill.ident.text.as_str()) {
                emit.skill_index.insert(&skill.ident.text, emit.skills.len());
                emit.skills.push((skill, at));
            }
        }
        emit
    }

    /// The path to what the facade keeps for generated code.
    fn private(&self) -> TokenStream {
        let facade = self.facade;
        quote_spanned!(Span::mixed_site()=> #facade::__private)
    }

    /// What the model calls the tool of that identifier.
    fn model_name(&self, tool: &str) -> Option<&str> {
        self.names.get(*self.tool_index.get(tool)?).copied()
    }

    fn knows_tool(&self, name: &Name) -> bool {
        self.tool_index.contains_key(name.text.as_str())
    }

    fn knows_skill(&self, name: &Name) -> bool {
        self.skill_index.contains_key(name.text.as_str())
    }

    /// Those of the names that are declared, as paths through the author's tokens.
    fn tool_paths(&self, names: &'a [Name]) -> impl Iterator<Item = TokenStream> {
        names.iter().filter(|name| self.knows_tool(name)).map(|name| {
            let ident = &name.ident;
            quote_spanned!(Span::mixed_site()=> tool::#ident)
        })
    }

    /// The edges whose ends are declared, in order: their positions are the ids that typed tests travel under.
    fn routes(&self) -> impl Iterator<Item = &'a Route> {
        self.graph.routes.iter().filter(|route| self.knows_skill(&route.from) && self.knows_skill(&route.to))
    }
}
