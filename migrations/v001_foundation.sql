-- The portable subset (docs/portable-sql.md): TEXT or BIGINT, time in milliseconds, a flag is BIGINT CHECK (x IN (0, 1)),
-- lists and JSON are TEXT. Secrets are fingerprints (SHA-256, base64url) or sealed under the master key.
-- A column that references another table leads an index: deleting a parent row must not read the child's whole table.

-- Small facts about this database: the check value of the master key.
CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE signing_keys (
    id TEXT PRIMARY KEY,
    algorithm TEXT NOT NULL,
    public_key TEXT NOT NULL,
    sealed_private_key TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE merchants (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    logout_reaches_backends BIGINT NOT NULL CHECK (logout_reaches_backends IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    disabled_at BIGINT
);

-- A client without a merchant belongs to the platform, and is never "of the same merchant".
CREATE TABLE clients (
    id TEXT PRIMARY KEY,
    merchant_id TEXT REFERENCES merchants (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    redirect_uris TEXT NOT NULL,
    grant_types TEXT NOT NULL,
    scope TEXT NOT NULL,
    authentication_method TEXT NOT NULL,
    first_party BIGINT NOT NULL CHECK (first_party IN (0, 1)),
    spid_compatible BIGINT NOT NULL CHECK (spid_compatible IN (0, 1)),
    rotates_refresh_tokens BIGINT NOT NULL CHECK (rotates_refresh_tokens IN (0, 1)),
    access_token_lifetime BIGINT NOT NULL,
    refresh_token_lifetime BIGINT NOT NULL,
    sealed_sign_secret TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    disabled_at BIGINT
);
CREATE INDEX clients_by_merchant ON clients (merchant_id, id);

CREATE TABLE client_secrets (
    id TEXT PRIMARY KEY,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX client_secrets_by_client ON client_secrets (client_id);

-- People belong to the deployment. An address is stored trimmed and in lower case.
CREATE TABLE accounts (
    id BIGINT PRIMARY KEY,
    email TEXT UNIQUE,
    email_verified BIGINT NOT NULL CHECK (email_verified IN (0, 1)),
    password_hash TEXT,
    profile TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    disabled_at BIGINT
);

-- Which clients a person has used.
CREATE TABLE connections (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, client_id)
);
CREATE INDEX connections_by_client ON connections (client_id, account_id);

-- One completed authorization: the family of its code and tokens. Ending it (ended_at) ends all of them at once.
-- expires_at moves along with what its tokens live to: after that nobody can make anything of it.
CREATE TABLE permissions (
    id TEXT PRIMARY KEY,
    parent_id TEXT,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    account_id BIGINT REFERENCES accounts (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    signed_in_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX permissions_by_account ON permissions (account_id);
CREATE INDEX permissions_by_client ON permissions (client_id);
CREATE INDEX permissions_by_parent ON permissions (parent_id);
CREATE INDEX permissions_by_expiry ON permissions (expires_at);
CREATE INDEX permissions_by_end ON permissions (ended_at) WHERE ended_at IS NOT NULL;

-- A client's own token has no permission and no account. `rotation` names the refresh token whose rotation this token
-- confirms when it is first presented. No foreign keys here, nor in the tables of codes: they are hot, their rows expire
-- by themselves, and whether client, person and permission live is asked each time one is presented. Each index on a
-- random value would be one more page in every commit.
CREATE TABLE access_tokens (
    fingerprint TEXT PRIMARY KEY,
    permission_id TEXT,
    client_id TEXT NOT NULL,
    account_id BIGINT,
    scope TEXT NOT NULL,
    rotation TEXT,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at);

-- States of a refresh token: current; rotated (successor set, the successor kept sealed so that a lost answer can be
-- asked for again); confirmed (confirmed_at set, the sealed successor erased: now using it is a replay).
CREATE TABLE refresh_tokens (
    fingerprint TEXT PRIMARY KEY,
    permission_id TEXT NOT NULL REFERENCES permissions (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    predecessor TEXT,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    successor TEXT,
    sealed_successor TEXT,
    rotated_at BIGINT,
    rotated_by TEXT,
    latest_access_token TEXT,
    confirmed_at BIGINT
);
CREATE INDEX refresh_tokens_by_permission ON refresh_tokens (permission_id);
CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);

-- `spent_by` is the attempt that won, so that a retry after a COMMIT of unknown outcome knows itself;
-- `permission_id` is what that attempt made, so that a replay knows what to revoke.
CREATE TABLE authorization_codes (
    fingerprint TEXT PRIMARY KEY,
    client_id TEXT NOT NULL,
    account_id BIGINT NOT NULL,
    session_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    redirect_uri_sent BIGINT NOT NULL CHECK (redirect_uri_sent IN (0, 1)),
    code_challenge TEXT,
    nonce TEXT,
    signed_in_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    spent_at BIGINT,
    spent_by TEXT,
    permission_id TEXT
);
CREATE INDEX authorization_codes_by_expiry ON authorization_codes (expires_at);

-- type=code: client_id is the receiver that may redeem it. type=session: the client whose redirect URI it is bound to.
CREATE TABLE exchange_codes (
    fingerprint TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    source_permission_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    account_id BIGINT NOT NULL,
    scope TEXT NOT NULL,
    redirect_uri TEXT,
    signed_in_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    spent_at BIGINT,
    spent_by TEXT,
    permission_id TEXT
);
CREATE INDEX exchange_codes_by_expiry ON exchange_codes (expires_at);

-- A browser session; `permission_id` is set when a session code bought it, and it dies with that permission.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    permission_id TEXT REFERENCES permissions (id) ON DELETE CASCADE,
    signed_in_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    user_agent TEXT NOT NULL,
    address TEXT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX sessions_by_account ON sessions (account_id);
CREATE INDEX sessions_by_permission ON sessions (permission_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- Sign-in throttling: `full_at` is the moment the bucket is empty again (GCRA). Names are fingerprints.
CREATE TABLE throttles (
    name TEXT PRIMARY KEY,
    full_at BIGINT NOT NULL
);
CREATE INDEX throttles_by_time ON throttles (full_at);

-- Addresses from which a person has signed in: an attack from elsewhere does not slow them there.
CREATE TABLE sign_in_places (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    address TEXT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, address)
);
CREATE INDEX sign_in_places_by_time ON sign_in_places (seen_at);

-- Who else a merchant trusts to say who somebody is (RFC 7523).
CREATE TABLE issuers (
    id TEXT PRIMARY KEY,
    merchant_id TEXT NOT NULL REFERENCES merchants (id) ON DELETE CASCADE,
    issuer TEXT NOT NULL,
    jwks TEXT,
    jwks_uri TEXT,
    sealed_secret TEXT,
    audiences TEXT NOT NULL,
    algorithms TEXT NOT NULL,
    create_users BIGINT NOT NULL CHECK (create_users IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    disabled_at BIGINT,
    UNIQUE (merchant_id, issuer)
);

CREATE TABLE issuer_subjects (
    issuer_id TEXT NOT NULL REFERENCES issuers (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer_id, subject)
);
CREATE INDEX issuer_subjects_by_account ON issuer_subjects (account_id);

-- Assertions that were used, until they expire: none is taken twice.
CREATE TABLE used_assertions (
    fingerprint TEXT PRIMARY KEY,
    used_by TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX used_assertions_by_expiry ON used_assertions (expires_at);
