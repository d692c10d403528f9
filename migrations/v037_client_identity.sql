-- When a client that registered itself last became another to its users, by its name, the hosts of its redirect URIs or
-- the subjects that it gets: their consent of before was given to what it was then.
ALTER TABLE clients ADD COLUMN identity_changed_at BIGINT;
