-- Where a run is taken up again, what may have come of the steps that are done
-- anew is void: Entry.Branch, Born and Short tell what that is. They are NULL
-- where they say nothing.
ALTER TABLE log ADD COLUMN branch INTEGER;
ALTER TABLE log ADD COLUMN born INTEGER;
ALTER TABLE log ADD COLUMN short TEXT;

DROP VIEW entries;
CREATE VIEW entries AS
  SELECT run, ord, key, kind, value, spent, seq, time, branch, born, short FROM log WHERE kind <> 'event';
