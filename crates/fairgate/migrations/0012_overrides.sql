-- Limits of one partition that somebody overrode for a while.

-- A number in the place of a gate's own, until an instant. It is written only under the lock of its partition's row in partition_state, so that every tick
-- sees it or was before it. A row is kept past its end until its partition was looked at; it outlives its partition, which may come back.
CREATE TABLE fairgate.override (
    partition_id uuid NOT NULL,
    gate text COLLATE "C" NOT NULL,
    parameter text COLLATE "C" NOT NULL,
    policy_id int NOT NULL,
    value float8 NOT NULL CHECK (value >= 0 AND value < 'Infinity'),
    until timestamptz NOT NULL CHECK (isfinite(until)),
    who text NOT NULL CHECK (who <> ''),
    made_at timestamptz NOT NULL,
    reason text NOT NULL CHECK (reason <> '' AND octet_length(reason) <= 10000),
    PRIMARY KEY (partition_id, gate, parameter)
);

-- Those in force.
CREATE VIEW fairgate.overrides AS
    SELECT pol.name AS policy, p.key AS partition_key, o.gate, o.parameter, o.value, o.until, o.who, o.made_at, o.reason, o.partition_id
      FROM fairgate.override o JOIN fairgate.policy pol ON pol.id = o.policy_id LEFT JOIN fairgate.partition p ON p.id = o.partition_id
     WHERE o.until > clock_timestamp();
