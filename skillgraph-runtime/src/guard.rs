//! How a guard reads a typed output (SPEC 1.4): field by field, through `Option`s, to a value that it can compare.
//!
//! Generated code calls this, so that a field which does not exist and a comparison which makes no sense are errors of the
//! compiler at the guard. What is compared with what, and what comes of it, is decided in the core.

use std::borrow::Cow;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use skillgraph_core::decl::{Literal, Number};

/// A field on the way to a value.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a, T: ?Sized>(pub &'a T);

impl<'a, T> Field<'a, Option<T>> {
    /// What is in the `Option`.
    pub fn present(self) -> Option<&'a T> {
        self.0.as_ref()
    }
}

/// What is no `Option` is always present. In scope, this answers where [`Field::present`] has no answer of its own.
pub trait Present<'a, T: ?Sized> {
    /// The field.
    fn present(self) -> Option<&'a T>;
}

impl<'a, T: ?Sized> Present<'a, T> for Field<'a, T> {
    fn present(self) -> Option<&'a T> {
        Some(self.0)
    }
}

/// What a guard can compare with a number.
#[diagnostic::on_unimplemented(
    message = "a guard cannot compare `{Self}` with a number [guard-type]",
    label = "this is no number",
    note = "what a guard cannot say, a closure can: `on … when |out| …`"
)]
pub trait ReadNumber {
    /// The number; of a value that may be of any kind, whatever it is. None where JSON has no such number.
    fn read_number(&self) -> Option<Literal>;
}

/// What a guard can compare with a text.
#[diagnostic::on_unimplemented(
    message = "a guard cannot compare `{Self}` with a text [guard-type]",
    label = "this is no text",
    note = "what a guard cannot say, a closure can: `on … when |out| …`"
)]
pub trait ReadText {
    /// The text; of a value that may be of any kind, whatever it is.
    fn read_text(&self) -> Option<Literal>;
}

/// What a guard can compare with `true` and `false`.
#[diagnostic::on_unimplemented(
    message = "a guard cannot compare `{Self}` with `true` or `false` [guard-type]",
    label = "this is no `bool`",
    note = "what a guard cannot say, a closure can: `on … when |out| …`"
)]
pub trait ReadBool {
    /// The truth value; of a value that may be of any kind, whatever it is.
    fn read_bool(&self) -> Option<Literal>;
}

/// What says whether a skill of the catalog is there (SPEC 11).
#[diagnostic::on_unimplemented(
    message = "`available:` names an `async fn() -> bool`",
    label = "this is no function that takes nothing and comes to a `bool`"
)]
pub trait AsksAvailability {
    /// Asks it.
    fn ask(self) -> Pin<Box<dyn Future<Output = bool> + Send>>;
}

#[diagnostic::do_not_recommend]
impl<F, A> AsksAvailability for F
where
    F: Fn() -> A,
    A: Future<Output = bool> + Send + 'static,
{
    fn ask(self) -> Pin<Box<dyn Future<Output = bool> + Send>> {
        Box::pin(self())
    }
}

/// Whether a skill of the catalog is there.
pub fn is_available(ask: impl AsksAvailability) -> Pin<Box<dyn Future<Output = bool> + Send>> {
    ask.ask()
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ReadNumber for $type {
            fn read_number(&self) -> Option<Literal> {
                Some(Literal::Number(Number::whole(i128::try_from(*self).ok()?)))
            }
        }
    )*};
}
whole_numbers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

#[diagnostic::do_not_recommend]
impl ReadNumber for f64 {
    fn read_number(&self) -> Option<Literal> {
        self.is_finite().then_some(Literal::Number(Number::Float(*self)))
    }
}

#[diagnostic::do_not_recommend]
impl ReadNumber for f32 {
    /// The number that it prints as: `0.1` is `0.1`.
    fn read_number(&self) -> Option<Literal> {
        self.to_string().parse::<f64>().ok()?.read_number()
    }
}

#[diagnostic::do_not_recommend]
impl ReadText for str {
    fn read_text(&self) -> Option<Literal> {
        Some(Literal::Text(self.to_owned()))
    }
}

#[diagnostic::do_not_recommend]
impl ReadText for String {
    fn read_text(&self) -> Option<Literal> {
        self.as_str().read_text()
    }
}

#[diagnostic::do_not_recommend]
impl ReadText for char {
    fn read_text(&self) -> Option<Literal> {
        Some(Literal::Text(self.to_string()))
    }
}

#[diagnostic::do_not_recommend]
impl ReadBool for bool {
    fn read_bool(&self) -> Option<Literal> {
        Some(Literal::Bool(*self))
    }
}

macro_rules! through {
    ($($trait:ident::$read:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl $trait for Value {
            fn $read(&self) -> Option<Literal> {
                Literal::of_json(self)
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: $trait + ?Sized> $trait for &T {
            fn $read(&self) -> Option<Literal> {
                (**self).$read()
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: $trait + ?Sized> $trait for Box<T> {
            fn $read(&self) -> Option<Literal> {
                (**self).$read()
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: $trait + ?Sized> $trait for Arc<T> {
            fn $read(&self) -> Option<Literal> {
                (**self).$read()
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: $trait + ?Sized> $trait for Rc<T> {
            fn $read(&self) -> Option<Literal> {
                (**self).$read()
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: $trait + ToOwned + ?Sized> $trait for Cow<'_, T> {
            fn $read(&self) -> Option<Literal> {
                (**self).$read()
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: $trait> $trait for Option<T> {
            fn $read(&self) -> Option<Literal> {
                self.as_ref()?.$read()
            }
        }
    )*};
}
through!(ReadNumber::read_number ReadText::read_text ReadBool::read_bool);
