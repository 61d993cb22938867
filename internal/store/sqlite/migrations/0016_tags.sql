-- Words by which collections are chosen together.
ALTER TABLE collections ADD COLUMN tags BLOB NOT NULL DEFAULT x'0100'; -- list
