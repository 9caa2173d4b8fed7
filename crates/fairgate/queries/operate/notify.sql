NOTIFY fairgate
