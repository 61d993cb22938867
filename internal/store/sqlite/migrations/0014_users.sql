-- Whose things are: '' is the operator's.
ALTER TABLE runs ADD COLUMN user TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN user TEXT NOT NULL DEFAULT '';
ALTER TABLE collections ADD COLUMN user TEXT NOT NULL DEFAULT '';
ALTER TABLE templates ADD COLUMN user TEXT NOT NULL DEFAULT '';
ALTER TABLE instances ADD COLUMN user TEXT NOT NULL DEFAULT '';
CREATE INDEX runs_user ON runs(user) WHERE user <> '';
CREATE INDEX sessions_user ON sessions(user) WHERE user <> '';

-- What users show to be known; of a token itself only its hash is kept.
CREATE TABLE tokens (
  n       INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  hash    BLOB NOT NULL,
  user    TEXT NOT NULL,
  scopes  BLOB NOT NULL, -- list
  note    TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  used    INTEGER NOT NULL
) STRICT;

-- The words of what was asked, answered and noted in runs, by their numbers, and
-- up to which event a run is in there: searches bring it up to date, so that runs
-- don't pay for it.
CREATE VIRTUAL TABLE words USING fts5(terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');
CREATE TABLE worded (
  run INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT;
