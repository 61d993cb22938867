-- Runs that are deleted, by their numbers, and whose log is not removed yet: that
-- is done afterwards, in small steps.
CREATE TABLE remains (
  run INTEGER PRIMARY KEY
) STRICT;
