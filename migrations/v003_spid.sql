-- What apps and backends written for SPiD expect.

-- Whether the API answers with a signature; where the terms of the client are, and since when there. Terms are known by
-- their address: new terms are a new address, which nobody has accepted yet.
ALTER TABLE clients ADD COLUMN signs_responses BIGINT NOT NULL DEFAULT 0 CHECK (signs_responses IN (0, 1));
ALTER TABLE clients ADD COLUMN terms_uri TEXT;
ALTER TABLE clients ADD COLUMN terms_changed_at BIGINT;

-- A provider whose access tokens an app may send instead of an assertion: `facebook` or `google`. `app_names` are what its
-- apps call themselves, a line each; the sealed secret is what Facebook wants to be asked with.
ALTER TABLE issuers ADD COLUMN provider TEXT;
ALTER TABLE issuers ADD COLUMN app_names TEXT NOT NULL DEFAULT '';
ALTER TABLE issuers ADD COLUMN sealed_app_secret TEXT;

-- Which terms a person has accepted. `client_id` is empty for those of the platform.
CREATE TABLE agreements (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    terms_uri TEXT NOT NULL,
    accepted_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, client_id)
);
CREATE INDEX agreements_by_client ON agreements (client_id);
-- What somebody agreed to on signing up, until there is an account: a line each, of a client's id and an address.
ALTER TABLE verifications ADD COLUMN agreed TEXT NOT NULL DEFAULT '';

-- Attempts to sign in to an account that exists. `type` is SPiD's: normal, auto, thirdparty, api.
CREATE TABLE logins (
    id TEXT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    client_id TEXT,
    type TEXT NOT NULL,
    succeeded BIGINT NOT NULL CHECK (succeeded IN (0, 1)),
    provider TEXT,
    user_agent TEXT NOT NULL,
    address TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX logins_by_account ON logins (account_id, created_at, id);
CREATE INDEX logins_by_client ON logins (client_id, created_at, id);
CREATE INDEX logins_by_time ON logins (created_at);
