//! `#[tool]`: an async function as a type that implements `Tool`.
//!
//! Only the signature is read, and only as far as needed; the function itself is passed on untouched.
// SPEC 14.2.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use skillgraph_core::decl::is_tool_name;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, LitStr, Path, Token, Type, Visibility};

use crate::docs::doc_text;

/// The item and its tool, or the item and an error.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let generated = Options::parse.parse2(options).and_then(|options| {
        let function = Function::parse.parse2(item.clone())?;
        generate(&options, &function)
    });
    let generated = generated.unwrap_or_else(|error| error.to_compile_error());
    quote!(#item #generated)
}

/// `find_ticket` → `FindTicket`.
pub(crate) fn type_name(function: &str) -> String {
    function
        .split('_')
        .flat_map(|word| {
            let mut chars = word.chars();
            let first = chars.next().into_iter().flat_map(char::to_uppercase);
            first.chain(chars).collect::<Vec<_>>()
        })
        .collect()
}

/// `exclusive`, `timeout = duration`, `name = "…"`, `struct = Name`, `capabilities("name", …)`, `crate = path`
#[derive(Default)]
struct Options {
    exclusive: bool,
    timeout: Option<Expr>,
    name: Option<LitStr>,
    type_name: Option<Ident>,
    capabilities: Vec<LitStr>,
    facade: Option<Path>,
}

impl Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Options::default();
        while !input.is_empty() {
            let word = input.call(Ident::parse_any)?;
            if word == "exclusive" {
                options.exclusive = true;
            } else if word == "capabilities" {
                let names;
                syn::parenthesized!(names in input);
                options.capabilities =
                    names.parse_terminated(<LitStr as Parse>::parse, Token![,])?.into_iter().collect();
            } else if word == "timeout" {
                input.parse::<Token![=]>()?;
                options.timeout = Some(input.parse()?);
            } else if word == "name" {
                input.parse::<Token![=]>()?;
                options.name = Some(input.parse()?);
            } else if word == "struct" {
                input.parse::<Token![=]>()?;
                options.type_name = Some(input.parse()?);
            } else if word == "crate" {
                input.parse::<Token![=]>()?;
                options.facade = Some(input.parse()?);
            } else {
                return Err(syn::Error::new(
                    word.span(),
                    format!(
                        "`{word}` is not an option of `#[tool]`\nhelp: the options are `exclusive`, `timeout = Duration::from_secs(5)`, `name = \"model_name\"`, `struct = TypeName`, `capabilities(\"name\")` and `crate = path`"
                    ),
                ));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// The signature, as far as a tool needs it.
struct Function {
    docs: Vec<Attribute>,
    vis: Visibility,
    name: Ident,
    parameters: Vec<Type>,
    output: Type,
}

impl Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        if !input.peek(Token![async]) {
            return Err(input.error("a tool is an async function: expected `async fn`"));
        }
        input.parse::<Token![async]>()?;
        input.parse::<Token![fn]>()?;
        let name: Ident = input.call(Ident::parse_any)?;
        if input.peek(Token![<]) {
            return Err(input.error("a tool function takes no generic parameters: its schema must be known"));
        }
        let content;
        syn::parenthesized!(content in input);
        if let Some(receiver) = receiver(&content) {
            return Err(syn::Error::new(
                receiver,
                "a method cannot be a tool\nhelp: write a function of its own beside the `impl`; what it works on is its first parameter, `state: &State`",
            ));
        }
        let parameters = Punctuated::<Type, Token![,]>::parse_terminated_with(&content, parameter)?;
        if !input.peek(Token![->]) {
            return Err(input.error("a tool function returns `Result<T, E>`: expected `->`"));
        }
        input.parse::<Token![->]>()?;
        let output = input.parse()?;
        while !input.is_empty() {
            input.parse::<TokenTree>()?;
        }
        let docs = attributes.into_iter().filter(|attribute| attribute.path().is_ident("doc")).collect();
        Ok(Function { docs, vis, name, parameters: parameters.into_iter().collect(), output })
    }
}

/// Where `self` stands, in whatever form.
fn receiver(parameters: ParseStream<'_>) -> Option<Span> {
    let first = parameters.cursor().token_stream().into_iter().take_while(|token| match token {
        TokenTree::Punct(punct) => !matches!(punct.as_char(), ',' | ':'),
        _ => true,
    });
    first.into_iter().find(|token| matches!(token, TokenTree::Ident(word) if word == "self")).map(|word| word.span())
}

/// `pattern: Type`, of which only the type counts.
fn parameter(input: ParseStream<'_>) -> syn::Result<Type> {
    input.call(Attribute::parse_outer)?;
    while !input.is_empty() && (!input.peek(Token![:]) || input.peek(Token![::])) {
        input.parse::<TokenTree>()?;
    }
    input.parse::<Token![:]>()?;
    input.parse()
}

fn generate(options: &Options, function: &Function) -> syn::Result<TokenStream> {
    let facade = options.facade.as_ref().map_or_else(|| quote!(::skillgraph), |path| quote!(#path));
    let private = quote!(#facade::__private);
    let (vis, name, docs, output) = (&function.vis, &function.name, &function.docs, &function.output);
    let function_name = name.unraw().to_string();
    let text = options.name.as_ref().map_or_else(|| function_name.clone(), LitStr::value);
    if let Some(given) = options.name.as_ref().filter(|name| !is_tool_name(&name.value())) {
        let message =
            format!("`{text}` is not a name that every provider takes\nhelp: it is 1–64 of `a-z A-Z 0-9 _ -`");
        return Err(syn::Error::new(given.span(), message));
    }
    let own = || Ident::new(&type_name(&function_name), name.span());
    let type_name = options.type_name.clone().unwrap_or_else(own);
    let description = doc_text(docs).filter(|text| !text.is_blank()).ok_or_else(|| {
        syn::Error::new(
            name.span(),
            format!(
                "tool `{text}` has no description\nhelp: add a doc comment: it is what a model reads about the tool"
            ),
        )
    })?;
    let description = LitStr::new(&description.text, description.at);

    let parts = parameters(function)?;
    let definition = match &parts.state {
        Some(state) => quote! {
            #(#docs)*
            #[derive(::core::clone::Clone)]
            #vis struct #type_name(
                /// The state that the tool works on.
                pub ::std::sync::Arc<#state>,
            );
        },
        None => quote! {
            #(#docs)*
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
            #vis struct #type_name;
        },
    };
    let state = parts.state.as_ref().map(|_| quote!(&self.0,));
    let args_type = parts.args.as_ref().map_or_else(|| quote!(#private::NoArgs), |args| quote!(#args));
    let args = if parts.args.is_some() { quote!(args) } else { quote!(_args) };
    let context = if parts.takes_context() { quote!(context) } else { quote!(_context) };
    let order: Vec<TokenStream> = parts
        .order
        .iter()
        .map(|part| match part {
            Part::Args => quote!(args,),
            Part::Context => quote!(context,),
        })
        .collect();
    let exclusive = options.exclusive.then(|| quote!(.exclusive()));
    let timeout = options.timeout.as_ref().map(|timeout| quote!(.timeout(#timeout)));
    let options_method = (exclusive.is_some() || timeout.is_some()).then(|| {
        quote! {
            fn options(&self) -> #private::ToolOptions {
                #private::ToolOptions::default() #exclusive #timeout
            }
        }
    });
    let capabilities = (!options.capabilities.is_empty()).then(|| {
        let names = &options.capabilities;
        quote!(const CAPABILITIES: &'static [&'static ::core::primitive::str] = &[#(#names),*];)
    });
    let span = output.span();
    let returned = quote_spanned!(span=> <#output as #private::ToolReturn>);
    let output_type = quote_spanned!(span=> #returned::Output);
    let error_type = quote_spanned!(span=> #returned::Error);
    let into_reply = quote_spanned!(span=> #returned::into_reply);
    Ok(quote! {
        #definition
        impl #private::Tool for #type_name {
            const NAME: &'static ::core::primitive::str = #text;
            const DESCRIPTION: &'static ::core::primitive::str = #description;
            #capabilities
            type Args = #args_type;
            type Output = #output_type;
            type Error = #error_type;
            #options_method
            async fn call(
                &self,
                #args: Self::Args,
                #context: &#private::ToolContext,
            ) -> ::core::result::Result<#private::ToolReply<Self::Output>, Self::Error> {
                let returned = #name(#state #(#order)*).await;
                #into_reply(returned)
            }
        }
    })
}

struct Parameters {
    state: Option<Type>,
    args: Option<Type>,
    order: Vec<Part>,
}

impl Parameters {
    fn takes_context(&self) -> bool {
        self.order.iter().any(|part| matches!(part, Part::Context))
    }
}

enum Part {
    Args,
    Context,
}

/// Which parameter is what: a leading reference is the state, a `&ToolContext` the context, a value the arguments.
fn parameters(function: &Function) -> syn::Result<Parameters> {
    let mut parts = Parameters { state: None, args: None, order: Vec::new() };
    for (at, parameter) in function.parameters.iter().enumerate() {
        match parameter {
            Type::Reference(reference) if is_context(&reference.elem) => parts.order.push(Part::Context),
            Type::Reference(reference) if at == 0 && is_plain(&reference.elem) => return Err(not_arguments(parameter)),
            Type::Reference(reference) if at == 0 => parts.state = Some((*reference.elem).clone()),
            Type::Reference(_) => {
                return Err(syn::Error::new(
                    parameter.span(),
                    "only the first parameter may be a reference to shared state",
                ));
            }
            _ if parts.args.is_some() => {
                return Err(syn::Error::new(
                    parameter.span(),
                    "a tool takes one argument value\nhelp: put its arguments in one struct that derives `Deserialize` and `JsonSchema`",
                ));
            }
            args if is_plain(args) => return Err(not_arguments(args)),
            args => {
                if let Some(lifetime) = borrowed(args.to_token_stream()) {
                    return Err(syn::Error::new(
                        lifetime,
                        "the arguments of a tool own what they hold: nothing outlives the call that they could borrow from\nhelp: write `String` for `&str`, and leave the lifetime out",
                    ));
                }
                parts.args = Some(args.clone());
                parts.order.push(Part::Args);
            }
        }
    }
    Ok(parts)
}

fn not_arguments(parameter: &Type) -> syn::Error {
    syn::Error::new(
        parameter.span(),
        "a tool's arguments are one struct: a model sends them by name\nhelp: write `args: FindArgs`, a struct with a field for each argument that derives `Deserialize` and `JsonSchema`",
    )
}

/// Whether a type is known to be no object with named fields, by its name alone.
fn is_plain(ty: &Type) -> bool {
    const NAMES: &str = "bool char str String i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 Vec Option";
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last().is_some_and(|last| {
            let is_std =
                path.path.segments.len() == 1 || path.path.segments.first().is_some_and(|first| first.ident == "std");
            is_std && NAMES.split(' ').any(|name| last.ident == name)
        }),
        Type::Array(_) | Type::Slice(_) | Type::Tuple(_) => true,
        _ => false,
    }
}

/// Where a type has a lifetime that is not `'static`.
fn borrowed(ty: TokenStream) -> Option<Span> {
    let mut tokens = ty.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(quote) if quote.as_char() == '\'' => {
                let name = tokens.peek()?;
                if name.to_string() != "static" {
                    return Some(name.span());
                }
            }
            TokenTree::Group(group) => {
                if let Some(found) = borrowed(group.stream()) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

fn is_context(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|segment| segment.ident == "ToolContext"))
}

#[cfg(test)]
mod tests {
    use super::type_name;

    #[test]
    fn functions_become_types() {
        assert_eq!(type_name("find_ticket"), "FindTicket");
        assert_eq!(type_name("a"), "A");
        assert_eq!(type_name("__x_1"), "X1");
    }
}
