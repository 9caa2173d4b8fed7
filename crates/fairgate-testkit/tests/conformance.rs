//! Every adapter against the suite.

use fairgate_testkit::conformance;

conformance!(graphile_worker);
conformance!(pgmq);
conformance!(apalis);
conformance!(pg_boss);
conformance!(procrastinate);
conformance!(underway);
conformance!(river);
conformance!(oban);
conformance!(good_job);
conformance!(solid_queue);
