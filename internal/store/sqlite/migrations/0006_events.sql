-- A page of a run's events is read by their sequence. The index has three numbers
-- a row and costs a commit one page more; log_key could only tell the order of a
-- run's events after sorting all of them.
CREATE UNIQUE INDEX log_event ON log(run, seq) WHERE kind = 'event';

-- No longer is it looked up for each row of the log that its run exists: the fence
-- has changed that run's row just before. A run's log is removed by whoever
-- removes the run. SQLite has no statement to drop a foreign key; to edit the text
-- of the table is the documented way, since rows are stored as before.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, ' REFERENCES runs(n) ON DELETE CASCADE', '') WHERE type = 'table' AND name = 'log';
PRAGMA writable_schema = RESET;
