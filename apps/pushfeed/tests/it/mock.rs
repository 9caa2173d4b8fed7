//! GitHub, played over real HTTP on this machine.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(its, _)| its == name).map(|(_, value)| value.as_str())
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A whole response.
    Whole(u16, Vec<(String, String)>, String),
    /// A response that promises more than it brings.
    Half,
    /// Nothing, for ever.
    Silence,
    /// Something else than HTTP.
    Noise,
}

/// A response with headers that tell of a budget of 60.
pub(crate) fn whole(status: u16, remaining: u32, more: &[(&str, &str)], body: &str) -> Reply {
    let reset = chrono::Utc::now().timestamp() + 3600;
    let mut headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("x-ratelimit-limit".to_owned(), "60".to_owned()),
        ("x-ratelimit-remaining".to_owned(), remaining.to_string()),
        ("x-ratelimit-reset".to_owned(), reset.to_string()),
        ("x-ratelimit-resource".to_owned(), "core".to_owned()),
    ];
    headers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    Reply::Whole(status, headers, body.to_owned())
}

/// A server that plays GitHub until it is dropped.
pub(crate) struct Mock {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    serving: tokio::task::JoinHandle<()>,
}

impl Mock {
    /// Answers with what `answer` says, which is given the request and how many came before.
    pub(crate) async fn start<F, R>(answer: F) -> Self
    where
        F: Fn(Asked, usize) -> R + Send + Sync + 'static,
        R: Future<Output = Reply> + Send,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen) = (Arc::new(answer), asked.clone());
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, seen) = (answer.clone(), seen.clone());
                tokio::spawn(async move { serve(stream, &*answer, &seen).await });
            }
        });
        Self { address, asked, serving }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve<F, R>(mut stream: TcpStream, answer: &F, seen: &Mutex<Vec<Asked>>) -> Option<()>
where
    F: Fn(Asked, usize) -> R,
    R: Future<Output = Reply>,
{
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.split("\r\n");
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    let asked = Asked { path, headers };
    let before = {
        let mut seen = seen.lock().unwrap();
        seen.push(asked.clone());
        seen.len() - 1
    };
    let raw = match answer(asked, before).await {
        Reply::Whole(status, headers, body) => {
            let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            format!(
                "HTTP/1.1 {status} X\r\n{lines}content-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            )
        }
        Reply::Half => "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n[{\"id\":".to_owned(),
        Reply::Noise => "SSH-2.0-OpenSSH_9.2\r\n".to_owned(),
        Reply::Silence => std::future::pending().await,
    };
    stream.write_all(raw.as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}
