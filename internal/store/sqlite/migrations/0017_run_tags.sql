-- Words by which their users find runs again.
CREATE TABLE tags (
  run INTEGER NOT NULL REFERENCES runs(n) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_tag ON tags(tag);
