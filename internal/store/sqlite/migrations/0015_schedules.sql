-- Runs that have come to a status which others may want to know, until they are told.
CREATE TABLE news (
  n      INTEGER PRIMARY KEY AUTOINCREMENT,
  run    TEXT NOT NULL,
  seq    INTEGER NOT NULL,
  status TEXT NOT NULL,
  at     INTEGER NOT NULL
) STRICT;

-- Messages to webhooks, and what became of them.
CREATE TABLE deliveries (
  n        INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  hook     TEXT NOT NULL,
  event    TEXT NOT NULL,
  run      TEXT NOT NULL,
  body     BLOB NOT NULL, -- packed
  created  INTEGER NOT NULL,
  state    TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  next     INTEGER NOT NULL,
  status   INTEGER NOT NULL,
  error    TEXT NOT NULL
) STRICT;
CREATE INDEX deliveries_pending ON deliveries(hook, n) WHERE state = 'pending';
CREATE INDEX deliveries_created ON deliveries(created);

-- Requests that are carried out again and again.
CREATE TABLE schedules (
  n        INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  name     TEXT NOT NULL,
  user     TEXT NOT NULL,
  cron     TEXT NOT NULL,
  zone     TEXT NOT NULL,
  request  ANY NOT NULL, -- packed
  paused   INTEGER NOT NULL,
  created  INTEGER NOT NULL,
  next     INTEGER NOT NULL,
  reckoned INTEGER NOT NULL,
  revision INTEGER NOT NULL
) STRICT;
CREATE INDEX schedules_next ON schedules(next) WHERE next <> 0;

-- The times that they were due.
CREATE TABLE firings (
  n        INTEGER PRIMARY KEY,
  schedule INTEGER NOT NULL REFERENCES schedules(n) ON DELETE CASCADE,
  run      TEXT NOT NULL,
  due      INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  by_hand  INTEGER NOT NULL,
  state    TEXT NOT NULL,
  error    TEXT NOT NULL
) STRICT;
CREATE INDEX firings_schedule ON firings(schedule, n);
CREATE INDEX firings_claimed ON firings(state) WHERE state = 'claimed';
