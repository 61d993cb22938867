-- The version of what read a document and cut it: '' for what was there before
-- there were versions.
ALTER TABLE documents ADD COLUMN reading TEXT NOT NULL DEFAULT '';
