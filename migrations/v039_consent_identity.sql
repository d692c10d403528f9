-- What a client was to its users when they gave their consent: `identity_changed_at` of that moment, 0 before its first
-- change. Times of two machines do not tell which came first.
ALTER TABLE consents ADD COLUMN identity BIGINT NOT NULL DEFAULT 0;
UPDATE consents SET identity = (
    SELECT COALESCE(c.identity_changed_at, 0) FROM clients c WHERE c.id = consents.client_id)
WHERE EXISTS (
    SELECT 1 FROM clients c WHERE c.id = consents.client_id AND c.identity_changed_at < consents.updated_at);
