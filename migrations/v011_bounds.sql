-- A user's token families at one client that have not ended, the newest first: counted without reading the ended ones.
DROP INDEX token_families_by_user;
CREATE INDEX token_families_by_user ON token_families (user_id, client_id, ended_at, created_at, id);

-- What a delivery tells whom about whom: a newer one takes the place of one that still waits.
ALTER TABLE deliveries ADD COLUMN topic TEXT;
-- Whom it tells about whom: the deliveries of one subject have few turns at a time.
ALTER TABLE deliveries ADD COLUMN subject TEXT;
CREATE INDEX deliveries_by_subject ON deliveries (subject, due_at) WHERE subject IS NOT NULL;
CREATE INDEX deliveries_by_topic ON deliveries (topic) WHERE topic IS NOT NULL;

-- Requests that nobody has signed in for, by the time at which they began.
CREATE INDEX interactions_waiting ON interactions (fingerprint) WHERE session IS NULL;
