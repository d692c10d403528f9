-- Who signed out of one client and stayed signed in to the browser. No foreign keys: a row goes when its session would
-- have expired at the latest.
CREATE TABLE client_logouts (
    session_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, client_id)
);
CREATE INDEX client_logouts_by_expiry ON client_logouts (expires_at);
