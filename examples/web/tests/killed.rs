//! The service is killed in the middle of a turn, and started again.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(database: &Path, hangs: bool) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillgraph-example-web"));
        command.arg(database).arg("0").stdout(Stdio::piped());
        if hangs {
            command.env("DESK_HANGS", "1");
        }
        let mut process = command.spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on ").expect("an address").to_owned();
        Self { process, address }
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let body = body.to_string();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: desk\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("sent");
        BufReader::new(stream)
    }

    fn post(&self, path: &str, body: &Value) -> String {
        let mut text = String::new();
        self.request("POST", path, body).read_to_string(&mut text).expect("a response");
        text
    }

    fn get(&self, path: &str) -> Value {
        let mut text = String::new();
        self.request("GET", path, &json!({})).read_to_string(&mut text).expect("a response");
        let body = text.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{text}"));
        serde_json::from_str(body).expect("JSON")
    }

    fn kill(mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it is over");
    }
}

/// The yes to the one question that waits.
fn yes(server: &Server) -> Value {
    let state = server.get("/chat/ada");
    let [question] = state["questions"].as_array().expect("a list").as_slice() else { panic!("{state}") };
    assert_eq!(question["text"], "Renew loan 7 for 1.50 €?");
    json!({ "question": question["id"], "fingerprint": question["fingerprint"], "reply": { "reply": "approved" } })
}

#[test]
fn a_killed_service_goes_on_and_charges_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("desk.sqlite");

    let server = Server::start(&database, true);
    let said = server.post("/chat/ada", &json!({ "message": "renew loan 7" }));
    assert!(said.contains("event: ended") && said.contains("\"paused\""), "{said}");
    let answer = yes(&server);
    // The tool takes the money, and hangs: the process dies before it can say so.
    let stream = server.request("POST", "/chat/ada/answer", &answer);
    let mut started = 0;
    for line in stream.lines().map_while(Result::ok) {
        started += usize::from(line.contains("tool_started"));
        if started == 1 {
            break;
        }
    }
    let charged = || -> Vec<String> {
        let connection = rusqlite::Connection::open(&database).expect("the database");
        let mut rows = connection.prepare("select key from charges").expect("a statement");
        rows.query_map([], |row| row.get(0)).expect("rows").collect::<Result<_, _>>().expect("keys")
    };
    while charged().is_empty() {
        std::thread::yield_now();
    }
    server.kill();

    let server = Server::start(&database, false);
    assert_eq!(server.get("/chat/ada")["in_a_turn"], true);
    // The old tab sends its yes once more: it is answered already.
    let refused = server.post("/chat/ada/answer", &answer);
    assert!(refused.contains("event: failed") && refused.contains("no answer to a question that waits"), "{refused}");
    let said = server.post("/chat/ada/go_on", &json!({}));
    assert!(said.contains("Your loan is renewed."), "{said}");
    assert_eq!(charged().len(), 1);
    // Another turn, another user: other charges.
    server.post("/chat/bob", &json!({ "message": "what do you do?" }));
    assert_eq!(server.get("/chat/bob")["questions"], json!([]));
    server.kill();
}
