-- An engine with row ids keeps a table by them, and its primary key in an index beside it: a token is two searches, and
-- two pages of a commit. These tables keep their rows in the order of the primary key instead. Nothing refers to them.
CREATE TABLE access_tokens_by_key (
    fingerprint TEXT PRIMARY KEY,
    family_id TEXT,
    client_id TEXT NOT NULL,
    user_id BIGINT,
    scope TEXT NOT NULL,
    rotation TEXT,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    resource TEXT
) WITHOUT ROWID;
INSERT INTO access_tokens_by_key (fingerprint, family_id, client_id, user_id, scope, rotation, issued_at, expires_at,
    resource)
SELECT fingerprint, family_id, client_id, user_id, scope, rotation, issued_at, expires_at, resource
FROM access_tokens ORDER BY fingerprint;
DROP TABLE access_tokens;
ALTER TABLE access_tokens_by_key RENAME TO access_tokens;
CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at);

CREATE TABLE refresh_tokens_by_key (
    fingerprint TEXT PRIMARY KEY,
    family_id TEXT NOT NULL REFERENCES token_families (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    predecessor TEXT,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    successor TEXT,
    sealed_successor TEXT,
    rotated_at BIGINT,
    rotated_by TEXT,
    latest_access_token TEXT,
    confirmed_at BIGINT,
    repeat_run BIGINT NOT NULL DEFAULT 0,
    repeats BIGINT NOT NULL DEFAULT 0
) WITHOUT ROWID;
INSERT INTO refresh_tokens_by_key (fingerprint, family_id, scope, predecessor, issued_at, expires_at, successor,
    sealed_successor, rotated_at, rotated_by, latest_access_token, confirmed_at, repeat_run, repeats)
SELECT fingerprint, family_id, scope, predecessor, issued_at, expires_at, successor, sealed_successor, rotated_at,
    rotated_by, latest_access_token, confirmed_at, repeat_run, repeats
FROM refresh_tokens ORDER BY fingerprint;
DROP TABLE refresh_tokens;
ALTER TABLE refresh_tokens_by_key RENAME TO refresh_tokens;
CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);
CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family_id);

CREATE TABLE exchange_codes_by_key (
    fingerprint TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    source_family_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    user_id BIGINT NOT NULL,
    scope TEXT NOT NULL,
    redirect_uri TEXT,
    signed_in_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    spent_at BIGINT,
    spent_by TEXT,
    family_id TEXT,
    state TEXT
) WITHOUT ROWID;
INSERT INTO exchange_codes_by_key (fingerprint, type, source_family_id, client_id, user_id, scope, redirect_uri,
    signed_in_at, expires_at, spent_at, spent_by, family_id, state)
SELECT fingerprint, type, source_family_id, client_id, user_id, scope, redirect_uri, signed_in_at, expires_at, spent_at,
    spent_by, family_id, state
FROM exchange_codes ORDER BY fingerprint;
DROP TABLE exchange_codes;
ALTER TABLE exchange_codes_by_key RENAME TO exchange_codes;
CREATE INDEX exchange_codes_unspent ON exchange_codes (expires_at) WHERE spent_at IS NULL;
CREATE INDEX exchange_codes_spent ON exchange_codes (expires_at) WHERE spent_at IS NOT NULL;
