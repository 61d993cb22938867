-- Times are nanoseconds since 1970 in UTC; 0 is no time. Values that are
-- stored plainly have the class TEXT, packed ones the class BLOB.

CREATE TABLE sessions (
  n       INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  title   TEXT NOT NULL,
  created INTEGER NOT NULL
) STRICT;

-- What changes with each commit: small rows, so that a group of commits
-- touches few pages. The rest of a run's record is in requests.
CREATE TABLE runs (
  n             INTEGER PRIMARY KEY AUTOINCREMENT, -- the writer remembers it: it is never used again
  id            TEXT NOT NULL UNIQUE,
  session       INTEGER REFERENCES sessions(n),
  status        TEXT NOT NULL,
  failure       TEXT,
  epoch         INTEGER NOT NULL DEFAULT 0,
  owner         TEXT NOT NULL DEFAULT '',
  lease_until   INTEGER NOT NULL DEFAULT 0,
  updated       INTEGER NOT NULL,
  last_seq      INTEGER NOT NULL DEFAULT 0,
  last_ord      INTEGER NOT NULL DEFAULT 0,
  last_signal   INTEGER NOT NULL DEFAULT 0,
  active        INTEGER NOT NULL,
  calls         INTEGER NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost          REAL NOT NULL,
  searches      INTEGER NOT NULL,
  pages         INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_session ON runs(session) WHERE session IS NOT NULL;
CREATE INDEX runs_status ON runs(status);

CREATE TABLE requests (
  run     INTEGER PRIMARY KEY REFERENCES runs(n) ON DELETE CASCADE,
  mode    TEXT NOT NULL,
  title   TEXT NOT NULL,
  request ANY,
  created INTEGER NOT NULL,
  fork_of TEXT NOT NULL,
  fork_at TEXT NOT NULL
) STRICT;

-- Journal entries and events, in one table because each commit has some of
-- both and the pages that it touches are what it costs. Rows are appended, so
-- that runs which commit at once share pages. The views below tell them apart.
CREATE TABLE log (
  id    INTEGER PRIMARY KEY,
  run   INTEGER NOT NULL REFERENCES runs(n) ON DELETE CASCADE,
  kind  TEXT NOT NULL,    -- of an entry; 'event' for an event
  key   TEXT NOT NULL,    -- of an entry; the place of an event
  seq   INTEGER NOT NULL, -- of the event; of the last event before an entry
  ord   INTEGER,          -- of an entry
  event TEXT,             -- kind of an event
  agent TEXT,             -- of an event
  spent TEXT,             -- by an entry
  time  INTEGER NOT NULL,
  value ANY               -- of an entry; the data of an event
) STRICT;
CREATE UNIQUE INDEX log_key ON log(run, key, kind);
-- There is no index on (run, seq): the fence keeps sequences gap-free, so the
-- event with sequence k is the k-th of its run by id, which log_key tells.
CREATE INDEX log_message ON log(run, seq) WHERE kind = 'event' AND event = 'message';

CREATE VIEW entries AS
  SELECT run, ord, key, kind, value, spent, seq, time FROM log WHERE kind <> 'event';
CREATE VIEW events AS
  SELECT run, seq, key AS place, event AS kind, agent, time, value AS data FROM log WHERE kind = 'event';

CREATE TABLE signals (
  run  INTEGER NOT NULL REFERENCES runs(n) ON DELETE CASCADE,
  n    INTEGER NOT NULL,
  kind TEXT NOT NULL,
  key  TEXT NOT NULL,
  text TEXT NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
  id   INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  size INTEGER NOT NULL, -- before packing
  data BLOB NOT NULL
) STRICT;

CREATE TABLE settings (
  bucket TEXT NOT NULL,
  key    TEXT NOT NULL,
  value  BLOB NOT NULL,
  PRIMARY KEY (bucket, key)
) STRICT, WITHOUT ROWID;
