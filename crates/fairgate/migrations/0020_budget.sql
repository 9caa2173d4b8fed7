-- Request budgets of rate-limited APIs: one row is one budget, its window, and what blocks it.

-- Every change is made by who holds this row's lock. Null means unknown, which is neither zero nor now.
CREATE TABLE fairgate.budget (
    name text COLLATE "C" PRIMARY KEY CHECK (name <> '' AND octet_length(name) <= 200),
    window_number bigint NOT NULL DEFAULT 1 CHECK (window_number >= 1),
    opened_at timestamptz,
    request_limit int CHECK (request_limit >= 0),
    remaining int CHECK (remaining >= 0),
    reset_at timestamptz CHECK (isfinite(reset_at)),
    previous_reset_at timestamptz,
    blocked_until timestamptz CHECK (isfinite(blocked_until)),
    block_reason text CHECK (block_reason IN ('nothing_remains', 'reserve_reached', 'secondary_limit')),
    secondary_streak int NOT NULL DEFAULT 0 CHECK (secondary_streak >= 0),
    CONSTRAINT a_window_is_told_as_a_whole CHECK (num_nulls(request_limit, remaining, reset_at) IN (0, 3)),
    CONSTRAINT a_told_window_is_open CHECK (reset_at IS NULL OR opened_at IS NOT NULL),
    CONSTRAINT a_block_has_its_reason CHECK (num_nulls(blocked_until, block_reason) IN (0, 2))
);

-- What each account has spent of its budget's window, in requests; an undivided class has the member ''. Changed only under the budget's lock.
CREATE TABLE fairgate.budget_use (
    budget text COLLATE "C" NOT NULL REFERENCES fairgate.budget (name) ON DELETE CASCADE,
    class text COLLATE "C" NOT NULL CHECK (class <> ''),
    member text COLLATE "C" NOT NULL,
    used int NOT NULL DEFAULT 0 CHECK (used >= 0),
    PRIMARY KEY (budget, class, member)
);

-- A class's use is the sum of its members', always.
CREATE VIEW fairgate.budget_classes AS
    SELECT budget, class, sum(used)::int AS used FROM fairgate.budget_use GROUP BY budget, class;
