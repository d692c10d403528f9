-- What people see and decide: brands, consents, messages that carry a secret, what waits to be sent.

-- How a merchant's pages look. The colour is `#rrggbb`.
ALTER TABLE merchants ADD COLUMN logo_uri TEXT;
ALTER TABLE merchants ADD COLUMN accent_color TEXT;

-- Origins of web pages that may ask for the session or frame a page; where a logout may return to; who is told of
-- changes to people. Lists are a line each.
ALTER TABLE clients ADD COLUMN web_origins TEXT NOT NULL DEFAULT '';
ALTER TABLE clients ADD COLUMN post_logout_redirect_uris TEXT NOT NULL DEFAULT '';
ALTER TABLE clients ADD COLUMN callback_uri TEXT;
ALTER TABLE clients ADD COLUMN requires_verified_email BIGINT NOT NULL DEFAULT 0
    CHECK (requires_verified_email IN (0, 1));

-- Set when a person asked for deletion: until then they can change their mind.
ALTER TABLE accounts ADD COLUMN deletion_due_at BIGINT;
CREATE INDEX accounts_by_deletion ON accounts (deletion_due_at) WHERE deletion_due_at IS NOT NULL;

-- `method` is how the person signed in (RFC 8176: pwd, otp).
ALTER TABLE sessions ADD COLUMN remembered BIGINT NOT NULL DEFAULT 0 CHECK (remembered IN (0, 1));
ALTER TABLE sessions ADD COLUMN method TEXT NOT NULL DEFAULT 'pwd';

-- What a person allowed a client that asks, until revoked.
CREATE TABLE consents (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, client_id)
);
CREATE INDEX consents_by_client ON consents (client_id, account_id);

-- A secret that went out by mail: a link (`link`, a fingerprint) or a short code (`code`, keyed: ten thousand guesses
-- are no obstacle to who reads the table). `browser` is the fingerprint of the browser that asked. A sign-up that waits
-- for its address has no account yet: password hash and profile wait here.
CREATE TABLE verifications (
    id TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    account_id BIGINT REFERENCES accounts (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    link TEXT UNIQUE,
    code TEXT,
    browser TEXT,
    password_hash TEXT,
    profile TEXT NOT NULL,
    continue_to TEXT NOT NULL,
    tries BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    spent_at BIGINT,
    spent_by TEXT
);
CREATE INDEX verifications_by_account ON verifications (account_id);
CREATE INDEX verifications_by_email ON verifications (email);
CREATE INDEX verifications_by_expiry ON verifications (expires_at);

-- Mails and callbacks that are still to be delivered, sealed: they carry links that sign in, and people's addresses.
-- Whoever moves `due_at` on has the next attempt.
CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    sealed_content TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX deliveries_by_due ON deliveries (due_at);
