-- The subject that a user has disconnected: it leads to no new user, so that the user can connect it again. None where a
-- merchant's app had attached it.
ALTER TABLE removed_links ADD COLUMN subject TEXT;
CREATE INDEX removed_links_by_subject ON removed_links (subject);
