-- The process that is to execute a run; '' is whoever finds it.
ALTER TABLE runs ADD COLUMN home TEXT NOT NULL DEFAULT '';
