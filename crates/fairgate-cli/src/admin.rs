//! The admin pages beside a ticker or the demo.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use fairgate::Settings;
use fairgate_admin::{Access, Admin, BindError, Listening};
use sqlx::PgPool;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::args::AdminArgs;
use crate::error::CliError;
use crate::output;

/// Where they are unless told otherwise.
pub(crate) const PORT: u16 = 8484;
/// How long answers that have begun may take when the program ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// Pages that are served in the background until this is closed.
pub(crate) struct Served {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// This machine's own address.
pub(crate) fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// Listens as the arguments say. None: no pages are wanted, or another program has the address that is ours only by default, which is no reason not to work.
///
/// # Errors
/// When they would be open to others, or the address that was asked for cannot be had.
pub(crate) async fn listen(
    args: &AdminArgs,
    pool: PgPool,
    settings: Settings,
) -> Result<Option<Listening>, CliError> {
    if args.no_admin {
        return Ok(None);
    }
    let address = args.admin_bind.unwrap_or(local(PORT));
    let access = match (&args.admin_password, &args.admin_auth_header) {
        (Some(password), _) if password.is_empty() => {
            return Err(CliError::usage("the password of the admin pages is empty")
                .hint("leave out --admin-password and FAIRGATE_ADMIN_PASSWORD, or give one"));
        }
        (Some(password), _) => Access::password(password),
        (None, Some(header)) => Access::Header(header.clone()),
        (None, None) => Access::Open,
    };
    let admin = Admin::new(pool).settings(settings).access(access).read_only(args.read_only);
    match fairgate_admin::bind(admin, address, args.admin_open).await {
        Ok(listening) => Ok(Some(listening)),
        Err(BindError::Listen { source, .. })
            if args.admin_bind.is_none() && source.kind() == std::io::ErrorKind::AddrInUse =>
        {
            output::say(&format!(
                "note: {address} is taken, so there are no admin pages here; --admin-bind names another address, --no-admin says that this is fine"
            ));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Serves them in the background, and says where.
pub(crate) fn serve(listening: Listening) -> Served {
    output::say(&format!("admin pages: {}", listening.url()));
    let stop = CancellationToken::new();
    let stopped = stop.clone().cancelled_owned();
    let task = tokio::spawn(async move {
        if let Err(error) = listening.serve(stopped).await {
            output::say(&format!("warning: the admin pages are no longer served: {error}"));
        }
    });
    Served { stop, task }
}

impl Served {
    /// Ends them, with the answers that have begun if they are quick.
    pub(crate) async fn close(mut self) {
        self.stop.cancel();
        if tokio::time::timeout(PATIENCE, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

impl From<BindError> for CliError {
    fn from(error: BindError) -> Self {
        let hint = match &error {
            BindError::Unprotected { .. } => {
                "give --admin-password, or --admin-auth-header behind a proxy that asks, or --admin-open if everybody may"
            }
            BindError::Listen { .. } => "give another address, or serve no admin pages",
        };
        let refusal = match &error {
            BindError::Unprotected { .. } => Self::usage(error.to_string()),
            BindError::Listen { .. } => Self::failed(error.to_string()),
        };
        refusal.hint(hint)
    }
}
