//! Arguments as they are run with: what the model wrote, read by the schema of the tool where numbers leave a choice.
// SPEC 6.

use serde_json::{Map, Value};

use super::{ArgumentsError, ToolCall};

/// How deep arguments and results may be nested. Saved state wraps them, and has to be readable again.
pub(super) const DEPTH: usize = 64;

/// How many references of a schema are followed for one value.
const REFERENCES: usize = 16;

/// The arguments of a call, for a tool with these parameters.
pub(super) fn read(call: &ToolCall, parameters: Option<&Value>) -> Result<Map<String, Value>, ArgumentsError> {
    admit(call.parsed_arguments()?, parameters)
}

/// Arguments that somebody gave, for a tool with these parameters.
pub(super) fn admit(
    arguments: Map<String, Value>,
    parameters: Option<&Value>,
) -> Result<Map<String, Value>, ArgumentsError> {
    let mut arguments = Value::Object(arguments);
    if is_deeper_than(&arguments, DEPTH) {
        return Err(ArgumentsError::TooDeep { most: DEPTH });
    }
    if let Some(parameters) = parameters {
        whole(&mut arguments, parameters, parameters, REFERENCES);
    }
    match arguments {
        Value::Object(arguments) => Ok(arguments),
        _ => Ok(Map::new()),
    }
}

/// Whether lists and objects stand in each other more often than that.
pub(super) fn is_deeper_than(value: &Value, depth: usize) -> bool {
    let inside = |mut values: Box<dyn Iterator<Item = &Value> + '_>| match depth.checked_sub(1) {
        None => true,
        Some(depth) => values.any(|value| is_deeper_than(value, depth)),
    };
    match value {
        Value::Array(list) => inside(Box::new(list.iter())),
        Value::Object(object) => inside(Box::new(object.values())),
        _ => false,
    }
}

/// Writes `7.0` as the integer that it is, wherever the schema asks for one: JSON Schema makes no difference between the two.
fn whole(value: &mut Value, schema: &Value, root: &Value, references: usize) {
    let Some(schema) = schema.as_object() else { return };
    if let Some(Value::String(reference)) = schema.get("$ref")
        && let (Some(pointer), Some(references)) = (reference.strip_prefix('#'), references.checked_sub(1))
        && let Some(target) = root.pointer(pointer)
    {
        whole(value, target, root, references);
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        if let (Some(Value::Array(parts)), Some(references)) = (schema.get(word), references.checked_sub(1)) {
            parts.iter().for_each(|part| whole(value, part, root, references));
        }
    }
    match value {
        Value::Number(number) if wants_integer(schema) => {
            if let Some(integer) = as_integer(number) {
                *value = integer;
            }
        }
        Value::Array(list) => {
            let first = match schema.get("prefixItems") {
                Some(Value::Array(schemas)) => schemas.as_slice(),
                _ => &[],
            };
            for (at, value) in list.iter_mut().enumerate() {
                if let Some(schema) = first.get(at).or_else(|| schema.get("items")) {
                    whole(value, schema, root, REFERENCES);
                }
            }
        }
        Value::Object(object) => {
            for (key, value) in object {
                let property = schema.get("properties").and_then(|properties| properties.get(key));
                if let Some(schema) = property.or_else(|| schema.get("additionalProperties")) {
                    whole(value, schema, root, REFERENCES);
                }
            }
        }
        _ => {}
    }
}

fn wants_integer(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "integer",
        Some(Value::Array(kinds)) => {
            kinds.iter().any(|kind| kind == "integer") && kinds.iter().all(|kind| kind != "number")
        }
        _ => false,
    }
}

/// The integer that a number with a point is, where it is one that a float holds exactly.
fn as_integer(number: &serde_json::Number) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|_| number.is_f64())?;
    let is_whole = float.fract() == 0.0 && float.abs() <= EXACT;
    // Within the bounds a cast loses nothing.
    is_whole.then(|| Value::from(float as i64))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read_as(schema: Value, arguments: Value) -> Value {
        let arguments = arguments.as_object().expect("an object").clone();
        admit(arguments, Some(&schema)).expect("not too deep").into()
    }

    #[test]
    fn a_whole_number_is_an_integer_where_one_is_asked_for() {
        let schema = json!({
            "properties": {
                "n": { "type": "integer" },
                "x": { "type": "number" },
                "maybe": { "type": ["integer", "null"] },
                "list": { "type": "array", "items": { "$ref": "#/$defs/id" } },
                "any": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/id" }] },
                "loop": { "$ref": "#/properties/loop" },
            },
            "$defs": { "id": { "type": "integer" } },
        });
        let given =
            json!({ "n": 7.0, "x": 7.0, "maybe": -7.0, "list": [1.0, 2.5], "any": 3.0, "loop": 1.0, "other": 1.0 });
        let text = read_as(schema, given).to_string();
        assert_eq!(
            text,
            json!({ "n": 7, "x": 7.0, "maybe": -7, "list": [1, 2.5], "any": 3, "loop": 1.0, "other": 1.0 }).to_string()
        );
    }

    #[test]
    fn what_is_no_integer_stays_as_it_is() {
        let schema = json!({ "properties": { "n": { "type": "integer" } } });
        for given in [json!({ "n": 7.5 }), json!({ "n": 1e300 }), json!({ "n": "7.0" }), json!({ "n": null })] {
            assert_eq!(read_as(schema.clone(), given.clone()), given);
        }
    }

    #[test]
    fn depth_is_counted_in_lists_and_objects() {
        let nested = |depth: usize| (1..depth).fold(json!({}), |inner, _| json!({ "a": inner }));
        assert!(!is_deeper_than(&nested(DEPTH), DEPTH));
        assert!(is_deeper_than(&nested(DEPTH + 1), DEPTH));
        assert!(!is_deeper_than(&json!(1), 0));
    }
}
