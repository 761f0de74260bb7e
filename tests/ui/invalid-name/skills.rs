use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn }

        skill Billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        skill 退款 {
            description: "Refunds",
            body: "Be exact.",
        }

        skill shipping = "Shipping & Returns" {
            description: "Parcels",
            body: "Be quick.",
        }

        entry Billing;
        entry 退款 when keywords["退款"];
        entry shipping when keywords["parcel"];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
