use skillgraph::skill_graph;

fn at_once() -> bool {
    true
}

async fn says_how_much() -> u32 {
    7
}

async fn wants_a_key(_: &str) -> bool {
    true
}

skill_graph! {
    graph office {
        tools {}

        catalog {
            skill one { header: "one", prompt: "One.", available: at_once }
            skill two { header: "two", prompt: "Two.", available: says_how_much }
            skill three { header: "three", prompt: "Three.", available: wants_a_key }
            skill four { header: "four", prompt: "Four.", available: self::nowhere::to_be_found }
        }
    }
}

fn main() {
    let _ = &office::GRAPH;
}
