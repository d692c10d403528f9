-- OpenID Connect.

-- When a key begins to sign. It is published from its creation on, so that whoever caches the key set knows it by then.
ALTER TABLE signing_keys ADD COLUMN signs_from BIGINT NOT NULL DEFAULT 0;
CREATE INDEX signing_keys_by_start ON signing_keys (algorithm, signs_from);

-- `openid`: what a client registered of OpenID Connect, one document in the names of its registration. It is read with the
-- client and never searched. `registration_token`: the fingerprint of what manages a client that registered itself
-- (RFC 7592).
ALTER TABLE clients ADD COLUMN openid TEXT NOT NULL DEFAULT '{}';
ALTER TABLE clients ADD COLUMN registration_token TEXT;

-- What administration says of a person for the claims of clients: a document of texts and lists of texts.
ALTER TABLE accounts ADD COLUMN attributes TEXT NOT NULL DEFAULT '{}';

-- How the person signed in (RFC 8176), in which browser session, which claims were asked for, for whom the tokens are
-- meant (RFC 8707), and what a developer tries out with them (`serve --dev`): what counts for later tokens too.
ALTER TABLE permissions ADD COLUMN method TEXT;
ALTER TABLE permissions ADD COLUMN session_id TEXT REFERENCES sessions (id) ON DELETE SET NULL;
ALTER TABLE permissions ADD COLUMN claims TEXT;
ALTER TABLE permissions ADD COLUMN resource TEXT;
ALTER TABLE permissions ADD COLUMN trial TEXT;
-- Its tokens came through the browser: they are good for less, and end with its session.
ALTER TABLE permissions ADD COLUMN front_channel BIGINT NOT NULL DEFAULT 0 CHECK (front_channel IN (0, 1));
-- Also a client's own token, which has no permission, may be for somebody else.
ALTER TABLE access_tokens ADD COLUMN resource TEXT;
CREATE INDEX permissions_by_session ON permissions (session_id) WHERE session_id IS NOT NULL;
-- While its session lives, one that expired is kept: its client is told of the session's end. What sweeps does not come by it.
DROP INDEX permissions_by_expiry;
CREATE INDEX permissions_by_expiry ON permissions (expires_at) WHERE session_id IS NULL;
ALTER TABLE authorization_codes ADD COLUMN method TEXT;
ALTER TABLE authorization_codes ADD COLUMN claims TEXT;
ALTER TABLE authorization_codes ADD COLUMN resource TEXT;
ALTER TABLE authorization_codes ADD COLUMN trial TEXT;

-- With which clients of a merchant may register themselves (RFC 7591 §3), and how many did.
CREATE TABLE initial_access_tokens (
    id TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    merchant_id TEXT NOT NULL REFERENCES merchants (id) ON DELETE CASCADE,
    registrations BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX initial_access_tokens_by_merchant ON initial_access_tokens (merchant_id, id);
CREATE INDEX initial_access_tokens_by_expiry ON initial_access_tokens (expires_at);

-- An issuer that people can sign in with, by redirect. `sign_in_name` is what the button says; `rules` is a document: the
-- nonce, what to do about strangers and addresses.
ALTER TABLE issuers ADD COLUMN discovery_url TEXT;
ALTER TABLE issuers ADD COLUMN client_id TEXT;
ALTER TABLE issuers ADD COLUMN sealed_client_secret TEXT;
ALTER TABLE issuers ADD COLUMN sign_in_name TEXT;
ALTER TABLE issuers ADD COLUMN scope TEXT;
ALTER TABLE issuers ADD COLUMN rules TEXT NOT NULL DEFAULT '{}';

-- A person who is away at another issuer, and comes back with `state`, in the browser that left. Of `state` there is only a
-- fingerprint; PKCE's verifier and the nonce follow from it and the master key. `anew`: only who signs in there again will
-- do. `account_id`: whose account the person there is to be connected to. `sealed_answer`: what came back by a form, without
-- the browser's cookies, until the browser fetches it with them.
CREATE TABLE upstream_requests (
    state TEXT PRIMARY KEY,
    issuer_id TEXT NOT NULL REFERENCES issuers (id) ON DELETE CASCADE,
    browser TEXT NOT NULL,
    continue_to TEXT NOT NULL,
    anew BIGINT NOT NULL CHECK (anew IN (0, 1)),
    account_id BIGINT REFERENCES accounts (id) ON DELETE CASCADE,
    sealed_answer TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    spent_at BIGINT,
    spent_by TEXT
);
CREATE INDEX upstream_requests_by_issuer ON upstream_requests (issuer_id);
CREATE INDEX upstream_requests_by_account ON upstream_requests (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX upstream_requests_by_expiry ON upstream_requests (expires_at);

-- How somebody showed to be the person of an account that is about to be deleted, while they are asked whether to keep it.
ALTER TABLE verifications ADD COLUMN method TEXT;

-- Set where a merchant's own issuer vouched for the person: the session is good for that merchant only.
ALTER TABLE sessions ADD COLUMN merchant_id TEXT REFERENCES merchants (id) ON DELETE CASCADE;
CREATE INDEX sessions_by_merchant ON sessions (merchant_id) WHERE merchant_id IS NOT NULL;

-- Ditto's authentication webhooks. `name` is the last part of its address; `document` is what administration said of it.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    merchant_id TEXT NOT NULL REFERENCES merchants (id) ON DELETE CASCADE,
    sealed_secrets TEXT,
    document TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    disabled_at BIGINT
);
CREATE INDEX webhooks_by_merchant ON webhooks (merchant_id, id);
