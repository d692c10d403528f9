-- Whose token bought the session: another client than the one that it is for (`client_id`), when a code passes between
-- two of a merchant's. The session rests while either is disabled.
ALTER TABLE sessions ADD COLUMN buyer_id TEXT;
UPDATE sessions SET buyer_id = (SELECT f.client_id FROM token_families f WHERE f.id = sessions.family_id)
WHERE family_id IS NOT NULL;
CREATE INDEX sessions_by_buyer ON sessions (buyer_id) WHERE buyer_id IS NOT NULL AND ended_at IS NULL;

-- A sign-out of one client goes with its session, of which a user has a bounded number.
CREATE TABLE client_logouts_of_sessions (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, client_id)
);
INSERT INTO client_logouts_of_sessions (session_id, client_id, created_at, expires_at)
SELECT session_id, client_id, created_at, expires_at FROM client_logouts
WHERE EXISTS (SELECT 1 FROM sessions s WHERE s.id = client_logouts.session_id);
DROP TABLE client_logouts;
ALTER TABLE client_logouts_of_sessions RENAME TO client_logouts;
CREATE INDEX client_logouts_by_expiry ON client_logouts (expires_at);
