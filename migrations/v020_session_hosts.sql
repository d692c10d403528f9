-- Sessions that a browser has at a host of a client's site too, each for as long as the session that it stands for. A
-- new row is a code first, which is spent by becoming one. A row goes with its session.
CREATE TABLE host_sessions (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    host TEXT NOT NULL,
    code TEXT,
    browser TEXT,
    code_expires_at BIGINT,
    fingerprint TEXT,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, client_id, host)
);
CREATE UNIQUE INDEX host_sessions_by_code ON host_sessions (code) WHERE code IS NOT NULL;
CREATE UNIQUE INDEX host_sessions_by_fingerprint ON host_sessions (fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX host_sessions_by_expiry ON host_sessions (expires_at);

-- Sign-ins in browsers of which a site had been told that nobody is signed in. Each time has a mark of its own.
CREATE TABLE noticed_sign_ins (
    mark TEXT PRIMARY KEY,
    signed_in_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX noticed_sign_ins_by_expiry ON noticed_sign_ins (expires_at);
