-- Instances that have work. The clock counts arrivals and turns; it begins anew
-- with each time that the instance wakes.
CREATE TABLE desks (
  instance INTEGER PRIMARY KEY REFERENCES instances(n),
  running  INTEGER NOT NULL,
  waiting  INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  clock    INTEGER NOT NULL
) STRICT;

-- The runs of an instance: those with a slot, and those that wait for one.
CREATE TABLE seats (
  run      TEXT PRIMARY KEY, -- id
  instance INTEGER NOT NULL REFERENCES desks(instance),
  session  TEXT NOT NULL,
  slot     INTEGER NOT NULL, -- whether it has one
  fresh    INTEGER NOT NULL, -- 0 goes before the others of its session
  arrived  INTEGER NOT NULL,
  epoch    INTEGER NOT NULL, -- of the run when it came
  since    INTEGER NOT NULL  -- when it came, or was given its slot
) STRICT, WITHOUT ROWID;
CREATE INDEX seats_order ON seats(instance, session, slot, fresh, arrived);

-- Sessions with runs that wait take turns, the lowest first.
CREATE TABLE lanes (
  instance INTEGER NOT NULL REFERENCES desks(instance),
  session  TEXT NOT NULL,
  turn     INTEGER NOT NULL,
  PRIMARY KEY (instance, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX lanes_turn ON lanes(instance, turn);
