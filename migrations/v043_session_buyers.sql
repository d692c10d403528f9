-- The access tokens that bought sessions, by their fingerprints, and their families: a token that has expired, and is
-- forgotten, still signs out of what it opened.
CREATE TABLE session_buyers (
    fingerprint TEXT PRIMARY KEY,
    family_id TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX session_buyers_by_expiry ON session_buyers (expires_at);
