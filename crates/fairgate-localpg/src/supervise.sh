# Runs one PostgreSQL server for exactly as long as its owner lives.
#
# Arguments: folder of the programs, home folder, socket folder, `keep` or `remove` (the home folder, afterwards).
# Prints "started PID" or "failed" once, then reads one line: a mode of `pg_ctl stop`. The owner holds the other end
# of stdin and nobody else does, so the end of file tells that it is gone, however it went.
# stderr is the home folder's lock: nothing may be written there, and no child may inherit it.
bin=$1 home=$2 socket=$3 afterwards=$4
data=$home/data
trap '' HUP INT TERM PIPE

run() {
    program=$1
    shift
    (trap - HUP INT TERM PIPE && exec "$bin/$program" "$@") </dev/null >>"$home/server.log" 2>&1
}

# `data` appears by a rename, so it is complete or absent.
create() {
    [ ! -e "$data" ] || return 0
    rm -rf -- "$home/data.new" 2>/dev/null
    run initdb -D "$home/data.new" -U fairgate -E UTF8 --no-locale --no-sync \
        --auth-local=trust --auth-host=scram-sha-256 --pwfile="$home/password" &&
        echo "include '../fairgate.conf'" >>"$home/data.new/postgresql.conf" &&
        mv -- "$home/data.new" "$data" 2>/dev/null
}

# pg_ctl gives the server a process session of its own.
start() {
    run pg_ctl start -D "$data" -l "$home/server.log" -w -t 120
}

stop() {
    [ ! -f "$data/postmaster.pid" ] || run pg_ctl stop -D "$data" -m "$1" -w -t 60
}

if create && start && read -r server <"$data/postmaster.pid"; then
    echo "started $server" 2>/dev/null
else
    echo failed 2>/dev/null
fi

read -r mode || mode=immediate
stop "$mode" || stop immediate
stopped=$?
rm -rf -- "$socket" 2>/dev/null
[ "$afterwards" = keep ] || rm -rf -- "$home" 2>/dev/null
exit "$stopped"
