-- Lists are stored as lists.go writes them.

-- What is in a collection hangs on its shelf. A collection is deleted at once;
-- a shelf without one is emptied afterwards, in small steps.
CREATE TABLE shelves (
  n INTEGER PRIMARY KEY
) STRICT;

CREATE TABLE collections (
  n             INTEGER PRIMARY KEY REFERENCES shelves(n),
  id            TEXT NOT NULL UNIQUE,
  name          TEXT NOT NULL UNIQUE,
  roots         BLOB NOT NULL, -- list of paths
  auto          INTEGER NOT NULL,
  created       INTEGER NOT NULL,
  synced        INTEGER NOT NULL,
  revision      INTEGER NOT NULL DEFAULT 0,
  last_document INTEGER NOT NULL DEFAULT 0, -- highest numbers ever used
  last_segment  INTEGER NOT NULL DEFAULT 0,
  documents     INTEGER NOT NULL DEFAULT 0, -- counts of what is there
  failed        INTEGER NOT NULL DEFAULT 0,
  chunks        INTEGER NOT NULL DEFAULT 0,
  bytes         INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What a sync compares, in small rows that lie side by side: all files of a
-- collection are read without touching a text.
CREATE TABLE documents (
  collection  INTEGER NOT NULL REFERENCES shelves(n),
  n           INTEGER NOT NULL,
  path        BLOB NOT NULL, -- file names need not be UTF-8
  hash        TEXT NOT NULL,
  size        INTEGER NOT NULL,
  -- Times of files can be 1970 itself and lie beyond what nanoseconds reach:
  -- seconds since then, NULL for no time, and the nanoseconds after them.
  modified    INTEGER,
  modified_ns INTEGER NOT NULL,
  failed      INTEGER NOT NULL,
  chunks      INTEGER NOT NULL, -- what it adds to the collection's counts
  bytes       INTEGER NOT NULL,
  PRIMARY KEY (collection, n)
) STRICT, WITHOUT ROWID;

-- The rest of a document.
CREATE TABLE contents (
  id         INTEGER PRIMARY KEY,
  collection INTEGER NOT NULL,
  n          INTEGER NOT NULL,
  reason     TEXT, -- of the failure; NULL without one
  why        TEXT,
  format     TEXT NOT NULL,
  title      TEXT NOT NULL,
  author     TEXT NOT NULL,
  date       TEXT NOT NULL,
  lang       TEXT NOT NULL,
  warnings   BLOB NOT NULL, -- list
  chunks     BLOB NOT NULL, -- packed list
  text       ANY NOT NULL,  -- TEXT, or BLOB when packed
  FOREIGN KEY (collection, n) REFERENCES documents(collection, n) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX contents_document ON contents(collection, n);

-- The large parts of a segment are apart from its tombstones, which change
-- with every document that goes: SQLite writes nothing for a row that is
-- replaced by its like.
CREATE TABLE segments (
  id         INTEGER PRIMARY KEY,
  collection INTEGER NOT NULL REFERENCES shelves(n),
  n          INTEGER NOT NULL,
  dead       BLOB,
  embedder   TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX segments_number ON segments(collection, n);

CREATE TABLE postings (
  segment INTEGER PRIMARY KEY REFERENCES segments(id) ON DELETE CASCADE,
  data    BLOB,
  vectors BLOB
) STRICT;
