-- Which bodies a run names in its request, its journal or its events.
CREATE TABLE held (
  run  INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (run, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX held_hash ON held(hash);

-- When a body was last put, or a run that named it was deleted. Those that were
-- put before this table was there have no row, since it is not known who names
-- them, and stay.
CREATE TABLE puts (
  hash BLOB PRIMARY KEY,
  time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
