-- What is known of tools; lists are stored as lists.go writes them.
CREATE TABLE tools (
  origin      TEXT NOT NULL,
  name        TEXT NOT NULL,
  about       TEXT NOT NULL,
  description ANY NOT NULL, -- TEXT, or BLOB when packed
  schema      ANY,          -- likewise; NULL for none
  tags        BLOB NOT NULL,
  examples    BLOB NOT NULL,
  calls       INTEGER NOT NULL DEFAULT 0,
  failures    INTEGER NOT NULL DEFAULT 0,
  spent       INTEGER NOT NULL DEFAULT 0, -- nanoseconds of all calls
  last        INTEGER NOT NULL DEFAULT 0, -- times
  ok          INTEGER NOT NULL DEFAULT 0,
  failed      INTEGER NOT NULL DEFAULT 0,
  error       TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (origin, name)
) STRICT, WITHOUT ROWID;
