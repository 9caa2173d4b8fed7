use std::net::SocketAddr;

use clap::Args;

/// Where the admin pages are served, and who may see them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Admin pages")]
pub(crate) struct AdminArgs {
    /// Serve no admin pages
    #[arg(long)]
    pub(crate) no_admin: bool,

    /// Where the admin pages are served [default: 127.0.0.1:8484]
    #[arg(long, value_name = "ADDRESS", conflicts_with = "no_admin")]
    pub(crate) admin_bind: Option<SocketAddr>,

    /// The password of the admin pages; the user name is free, and is what operations are written down under
    #[arg(
        long,
        value_name = "PASSWORD",
        env = "FAIRGATE_ADMIN_PASSWORD",
        hide_env_values = true,
        conflicts_with = "admin_auth_header"
    )]
    pub(crate) admin_password: Option<String>,

    /// The header in which a reverse proxy names the user that it let through
    #[arg(long, value_name = "HEADER")]
    pub(crate) admin_auth_header: Option<String>,

    /// Serve the admin pages without a password also where others than this machine reach them
    #[arg(long)]
    pub(crate) admin_open: bool,

    /// Admin pages that change nothing
    #[arg(long)]
    pub(crate) read_only: bool,
}
