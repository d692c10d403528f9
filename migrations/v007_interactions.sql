-- An authorization request that meets a person: pages carry its id and nothing else.

CREATE TABLE interactions (
    -- Of the id, which begins with the time.
    fingerprint TEXT NOT NULL PRIMARY KEY,
    -- Of the cookie of the browser it began in; NULL until a browser takes it up.
    browser TEXT,
    client_id TEXT NOT NULL,
    -- The parameters as they came, as a query.
    request TEXT NOT NULL,
    -- Of the session cookie with which the next four were done: after another sign-in they count for nothing.
    session TEXT,
    signed_in BIGINT NOT NULL CHECK (signed_in IN (0, 1)),
    seen_at BIGINT,
    allowed TEXT,
    trial TEXT,
    by_somebody_else BIGINT NOT NULL CHECK (by_somebody_else IN (0, 1)),
    asks_consent BIGINT NOT NULL CHECK (asks_consent IN (0, 1)),
    expires_at BIGINT NOT NULL
);
CREATE INDEX interactions_by_browser ON interactions (browser, fingerprint) WHERE browser IS NOT NULL;
CREATE INDEX interactions_by_expiry ON interactions (expires_at);
