//! How a guard reads a typed output: field by field, through `Option`s, to a value that it can compare.
//!
//! Generated code calls this, so that a field which does not exist and a comparison which makes no sense are errors of the
//! compiler at the guard. What is compared with what, and what comes of it, is decided in the core.
// SPEC 1.4.

use std::borrow::Cow;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use serde::Serialize;
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

/// A field as a guard reads it: by its own kind, or, where its type is none that a guard knows, as it serialises. Which of the
/// two holds is found by method resolution: the first of [`levels`] that fits answers.
#[derive(Debug)]
pub struct Read<'a, T: ?Sized>(pub &'a T);

impl<T: ?Sized> Clone for Read<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Read<'_, T> {}

/// What a guard can compare with.
#[diagnostic::on_unimplemented(
    message = "a guard cannot compare with a value of type `{Self}` [guard-type]",
    label = "this is no number, text or `bool`",
    note = "what a guard cannot say, a closure can: `on … when |out| …`"
)]
pub trait Comparand {
    /// The value.
    fn comparand(&self) -> Literal;
}

macro_rules! comparands {
    ($($type:ty: $read:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Comparand for $type {
            fn comparand(&self) -> Literal {
                // A float that is no number equals nothing, itself included.
                self.$read().unwrap_or(Literal::Number(Number::Float(f64::NAN)))
            }
        }
    )*};
}
comparands! {
    i8: read_number i16: read_number i32: read_number i64: read_number i128: read_number isize: read_number
    u8: read_number u16: read_number u32: read_number u64: read_number u128: read_number usize: read_number
    f32: read_number f64: read_number str: read_text char: read_text bool: read_bool
}

#[diagnostic::do_not_recommend]
impl<T: Comparand + ?Sized> Comparand for &T {
    fn comparand(&self) -> Literal {
        (**self).comparand()
    }
}

/// A type of which a guard knows what it is, so that comparing it with another kind is a mistake.
pub trait Known {}

macro_rules! known {
    ($($type:ty)*) => {$( impl Known for $type {} )*};
}
known!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 str String char bool);
impl<T> Known for Vec<T> {}
impl<T> Known for [T] {}
impl<T, const N: usize> Known for [T; N] {}
impl<K, V, S> Known for std::collections::HashMap<K, V, S> {}
impl<K, V> Known for std::collections::BTreeMap<K, V> {}
impl<T, S> Known for std::collections::HashSet<T, S> {}
impl<T> Known for std::collections::BTreeSet<T> {}
impl<T: Known + ?Sized> Known for &T {}
impl<T: Known + ?Sized> Known for Box<T> {}
impl<T: Known + ?Sized> Known for Arc<T> {}
impl<T: Known + ?Sized> Known for Rc<T> {}
impl<T: Known> Known for Option<T> {}

/// What a value serialises to, where that is a number, a text or a truth value.
fn as_it_serialises<T: Serialize + ?Sized>(value: &T) -> Option<Literal> {
    serde_json::to_value(value).ok().as_ref().and_then(Literal::of_json)
}

/// The ways to read a field, the most exact first. All are in scope where a guard is read.
#[allow(missing_docs)]
pub mod levels {
    use super::{Known, Literal, Read, ReadBool, ReadNumber, ReadText, Serialize, as_it_serialises};

    /// It is a number.
    pub trait OwnNumber {
        fn read_number(self) -> Option<Literal>;
    }

    impl<T: ReadNumber + ?Sized> OwnNumber for &&Read<'_, T> {
        fn read_number(self) -> Option<Literal> {
            self.0.read_number()
        }
    }

    /// It is known to be no number: the compiler says so.
    pub trait KnownNumber {
        type Field: ?Sized;
        fn read_number(self) -> Option<Literal>
        where
            Self::Field: ReadNumber;
    }

    impl<T: Known + ?Sized> KnownNumber for &Read<'_, T> {
        type Field = T;
        fn read_number(self) -> Option<Literal>
        where
            T: ReadNumber,
        {
            self.0.read_number()
        }
    }

    /// It is of a type of the author's.
    pub trait OtherNumber {
        fn read_number(self) -> Option<Literal>;
    }

    impl<T: Serialize + ?Sized> OtherNumber for Read<'_, T> {
        fn read_number(self) -> Option<Literal> {
            as_it_serialises(self.0)
        }
    }

    /// It is a text.
    pub trait OwnText {
        fn read_text(self) -> Option<Literal>;
    }

    impl<T: ReadText + ?Sized> OwnText for &&Read<'_, T> {
        fn read_text(self) -> Option<Literal> {
            self.0.read_text()
        }
    }

    /// It is known to be no text: the compiler says so.
    pub trait KnownText {
        type Field: ?Sized;
        fn read_text(self) -> Option<Literal>
        where
            Self::Field: ReadText;
    }

    impl<T: Known + ?Sized> KnownText for &Read<'_, T> {
        type Field = T;
        fn read_text(self) -> Option<Literal>
        where
            T: ReadText,
        {
            self.0.read_text()
        }
    }

    /// It is of a type of the author's.
    pub trait OtherText {
        fn read_text(self) -> Option<Literal>;
    }

    impl<T: Serialize + ?Sized> OtherText for Read<'_, T> {
        fn read_text(self) -> Option<Literal> {
            as_it_serialises(self.0)
        }
    }

    /// It is a truth value.
    pub trait OwnBool {
        fn read_bool(self) -> Option<Literal>;
    }

    impl<T: ReadBool + ?Sized> OwnBool for &&Read<'_, T> {
        fn read_bool(self) -> Option<Literal> {
            self.0.read_bool()
        }
    }

    /// It is known to be no truth value: the compiler says so.
    pub trait KnownBool {
        type Field: ?Sized;
        fn read_bool(self) -> Option<Literal>
        where
            Self::Field: ReadBool;
    }

    impl<T: Known + ?Sized> KnownBool for &Read<'_, T> {
        type Field = T;
        fn read_bool(self) -> Option<Literal>
        where
            T: ReadBool,
        {
            self.0.read_bool()
        }
    }

    /// It is of a type of the author's.
    pub trait OtherBool {
        fn read_bool(self) -> Option<Literal>;
    }

    impl<T: Serialize + ?Sized> OtherBool for Read<'_, T> {
        fn read_bool(self) -> Option<Literal> {
            as_it_serialises(self.0)
        }
    }

    macro_rules! any {
        ($($level:ident $of:ident $read:ident: $($reference:tt)*)*) => {$(
            /// It is compared with a value whose kind shows when the program runs.
            pub trait $level {
                fn read_any(self) -> Option<Literal>;
            }

            impl<T: $of + ?Sized> $level for $($reference)* Read<'_, T> {
                fn read_any(self) -> Option<Literal> {
                    self.0.$read()
                }
            }
        )*};
    }
    any! { AnyNumber ReadNumber read_number: &&& }
    any! { AnyText ReadText read_text: && }
    any! { AnyBool ReadBool read_bool: & }

    /// It is compared with a value whose kind shows when the program runs.
    pub trait AnyOther {
        fn read_any(self) -> Option<Literal>;
    }

    impl<T: Serialize + ?Sized> AnyOther for Read<'_, T> {
        fn read_any(self) -> Option<Literal> {
            as_it_serialises(self.0)
        }
    }
}

/// What says whether a skill of the catalog is there.
// SPEC 11.
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
