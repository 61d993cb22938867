CREATE TABLE templates (
  n          INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  published  INTEGER NOT NULL DEFAULT 0, -- version; 0 is none
  latest     INTEGER NOT NULL,
  deprecated INTEGER NOT NULL DEFAULT 0,
  created    INTEGER NOT NULL,
  updated    INTEGER NOT NULL
) STRICT;

CREATE TABLE template_versions (
  template INTEGER NOT NULL REFERENCES templates(n) ON DELETE CASCADE,
  n        INTEGER NOT NULL,
  state    TEXT NOT NULL,
  note     TEXT NOT NULL,
  author   TEXT NOT NULL,
  created  INTEGER NOT NULL,
  document ANY NOT NULL, -- TEXT, or BLOB when packed
  PRIMARY KEY (template, n)
) STRICT;

CREATE TABLE publications (
  id       INTEGER PRIMARY KEY, -- their order
  template INTEGER NOT NULL REFERENCES templates(n) ON DELETE CASCADE,
  version  INTEGER NOT NULL,
  time     INTEGER NOT NULL
) STRICT;
CREATE INDEX publications_template ON publications(template);

-- There may be a million of these, so a row is small.
CREATE TABLE instances (
  n         INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
  id        TEXT NOT NULL UNIQUE,
  name      TEXT NOT NULL UNIQUE,
  template  INTEGER NOT NULL REFERENCES templates(n),
  version   INTEGER NOT NULL,
  slots     INTEGER NOT NULL,
  queue     INTEGER NOT NULL,
  closed    TEXT, -- draining or stopped; NULL for one that takes runs
  labels    BLOB, -- list
  created   INTEGER NOT NULL,
  last_used INTEGER NOT NULL,
  served    INTEGER NOT NULL
) STRICT;
CREATE INDEX instances_template ON instances(template, name);
CREATE INDEX instances_closed ON instances(name) WHERE closed IS NOT NULL;

-- An instance is found by its id or its name, so a name is nobody else's id.
CREATE TRIGGER instances_keys BEFORE INSERT ON instances WHEN NEW.id <> NEW.name
  AND (EXISTS (SELECT 1 FROM instances WHERE id = NEW.name) OR EXISTS (SELECT 1 FROM instances WHERE name = NEW.id))
BEGIN
  SELECT RAISE(ABORT, 'the name is taken');
END;

-- Which instance a session belongs to. Sessions are named by their ids: one
-- is claimed before its first run makes it.
CREATE TABLE instance_sessions (
  session  TEXT PRIMARY KEY,
  instance INTEGER NOT NULL REFERENCES instances(n) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX instance_sessions_instance ON instance_sessions(instance);

CREATE TABLE outcomes (
  id       INTEGER PRIMARY KEY,
  run      TEXT NOT NULL UNIQUE,
  template INTEGER NOT NULL REFERENCES templates(n) ON DELETE CASCADE,
  version  INTEGER NOT NULL,
  instance TEXT NOT NULL, -- id; the instance may be gone
  status   TEXT NOT NULL,
  coverage REAL,
  tokens   INTEGER NOT NULL,
  cost     REAL NOT NULL,
  spent    INTEGER NOT NULL, -- nanoseconds of work
  time     INTEGER NOT NULL
) STRICT;
CREATE INDEX outcomes_template ON outcomes(template);
