//! The tools: they read and write a JSON file.

use std::path::PathBuf;
use std::sync::Mutex;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skillgraph::{ToolReply, tool};

/// The desk itself gives back up to this much, in cents.
const DESK_LIMIT_CENTS: u64 = 50_000;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A JSON file of orders.
pub struct OrderBook {
    path: PathBuf,
    /// One change at a time.
    writing: Mutex<()>,
}

/// An order, as it stands in the book.
#[derive(Clone, Serialize, Deserialize)]
pub struct Order {
    number: u32,
    customer: String,
    total_cents: u64,
    charges: u64,
    refunded_cents: u64,
    parcel: String,
}

impl OrderBook {
    /// The book in that file.
    pub fn open(path: PathBuf) -> Self {
        Self { path, writing: Mutex::new(()) }
    }

    fn orders(&self) -> Result<Vec<Order>, BoxError> {
        Ok(serde_json::from_str(&std::fs::read_to_string(&self.path)?)?)
    }

    fn find(&self, number: u32) -> Result<Option<Order>, BoxError> {
        Ok(self.orders()?.into_iter().find(|order| order.number == number))
    }

    fn update(&self, changed: &Order) -> Result<(), BoxError> {
        let _alone = self.writing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let orders = self.orders()?.into_iter();
        let orders: Vec<Order> =
            orders.map(|order| if order.number == changed.number { changed.clone() } else { order }).collect();
        Ok(std::fs::write(&self.path, serde_json::to_string_pretty(&orders)?)?)
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct OrderArgs {
    /// The order's number.
    order: u32,
}

/// Looks an order up: its total, and how often it was charged.
#[tool]
pub async fn lookup_order(book: &OrderBook, args: OrderArgs) -> Result<ToolReply<Order>, BoxError> {
    Ok(match book.find(args.order)? {
        Some(order) => ToolReply::success(order),
        None => ToolReply::absent(format!("There is no order {}.", args.order)),
    })
}

#[derive(Serialize)]
pub struct Refund {
    order: u32,
    refunded_cents: u64,
}

/// Gives back what was charged too much for an order.
#[tool(exclusive)]
pub async fn issue_refund(book: &OrderBook, args: OrderArgs) -> Result<ToolReply<Refund>, BoxError> {
    let Some(mut order) = book.find(args.order)? else {
        return Ok(ToolReply::absent(format!("There is no order {}.", args.order)));
    };
    let too_much = (order.total_cents * order.charges.saturating_sub(1)).saturating_sub(order.refunded_cents);
    if too_much == 0 {
        return Ok(ToolReply::denied(format!("Order {} was not charged too much.", order.number)));
    }
    if too_much > DESK_LIMIT_CENTS {
        return Ok(ToolReply::denied(format!("{too_much} cents are more than the desk may give back.")));
    }
    order.refunded_cents += too_much;
    book.update(&order)?;
    Ok(Refund { order: order.number, refunded_cents: too_much }.into())
}

#[derive(Serialize)]
pub struct Parcel {
    order: u32,
    parcel: String,
}

/// Says where the parcel of an order is.
#[tool]
pub async fn track_parcel(book: &OrderBook, args: OrderArgs) -> Result<ToolReply<Parcel>, BoxError> {
    Ok(match book.find(args.order)? {
        Some(order) => Parcel { order: order.number, parcel: order.parcel }.into(),
        None => ToolReply::absent(format!("There is no order {}.", args.order)),
    })
}

#[derive(Deserialize, JsonSchema)]
pub struct TicketArgs {
    /// The order's number.
    order: u32,
    /// What the user wants, in their own words.
    summary: String,
}

#[derive(Serialize)]
pub struct Ticket {
    ticket: String,
    summary: String,
}

/// Opens a ticket for a person to answer.
#[tool]
pub async fn open_ticket(book: &OrderBook, args: TicketArgs) -> Result<ToolReply<Ticket>, BoxError> {
    Ok(match book.find(args.order)? {
        Some(order) => Ticket { ticket: format!("T-{}", order.number), summary: args.summary }.into(),
        None => ToolReply::absent(format!("There is no order {}.", args.order)),
    })
}
