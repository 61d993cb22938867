-- The agent, by the id that its clients know, of each run that an agent works on:
-- apart from runs, whose rows change with each commit and stay small.
CREATE TABLE agents (
  run INTEGER PRIMARY KEY REFERENCES runs(n) ON DELETE CASCADE,
  id  TEXT NOT NULL
) STRICT;
CREATE INDEX agents_id ON agents(id);
