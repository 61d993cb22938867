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
  n             INTEGER PRIMARY KEY,
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

-- Journal and events are appended: many runs that commit at once write to the
-- same few pages.
CREATE TABLE entries (
  id    INTEGER PRIMARY KEY,
  run   INTEGER NOT NULL REFERENCES runs(n) ON DELETE CASCADE,
  ord   INTEGER NOT NULL,
  key   TEXT NOT NULL,
  kind  TEXT NOT NULL,
  value ANY,
  spent TEXT,
  seq   INTEGER NOT NULL,
  time  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX entries_key ON entries(run, key, kind);

CREATE TABLE events (
  id    INTEGER PRIMARY KEY,
  run   INTEGER NOT NULL REFERENCES runs(n) ON DELETE CASCADE,
  seq   INTEGER NOT NULL,
  place TEXT NOT NULL,
  kind  TEXT NOT NULL,
  agent TEXT NOT NULL,
  time  INTEGER NOT NULL,
  data  ANY NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_place ON events(run, place);
CREATE UNIQUE INDEX events_seq ON events(run, seq);
CREATE INDEX events_message ON events(run, seq) WHERE kind = 'message';

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
