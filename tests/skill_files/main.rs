//! Skills in files (SPEC 12): what the reader makes of a SKILL.md, and what loading a folder of them comes to.

mod any_text;
mod doors;
mod folders;
mod oddities;
