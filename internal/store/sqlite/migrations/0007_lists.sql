-- Lists leave the bodies of requests out. What lies behind a large column is
-- reached by reading through it, so the body comes last.
CREATE TABLE asked (
  run     INTEGER PRIMARY KEY REFERENCES runs(n) ON DELETE CASCADE,
  mode    TEXT NOT NULL,
  title   TEXT NOT NULL,
  created INTEGER NOT NULL,
  fork_of TEXT NOT NULL,
  fork_at TEXT NOT NULL,
  request ANY
) STRICT;
INSERT INTO asked SELECT run, mode, title, created, fork_of, fork_at, request FROM requests;
DROP TABLE requests;
ALTER TABLE asked RENAME TO requests;

-- A run is found by the end of its id, of which at least these are given.
CREATE INDEX runs_end ON runs(substr(id, -4));
