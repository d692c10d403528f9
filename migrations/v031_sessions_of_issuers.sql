-- The issuer that asserted the session, if one did: the session rests while the issuer is disabled, and ends with it and
-- with its link to the user. Sessions of programs before this step have none, and last a week at most, or a year where
-- the browser is remembered.
ALTER TABLE sessions ADD COLUMN issuer_id TEXT;
CREATE INDEX sessions_by_issuer ON sessions (issuer_id) WHERE issuer_id IS NOT NULL AND ended_at IS NULL;

-- The issuers that are disabled, and those that went with their merchant while they have sessions.
CREATE TABLE closed_issuers (
    issuer_id TEXT PRIMARY KEY,
    is_gone BIGINT NOT NULL DEFAULT 0 CHECK (is_gone IN (0, 1))
);
CREATE INDEX closed_issuers_gone ON closed_issuers (issuer_id) WHERE is_gone = 1;
INSERT INTO closed_issuers (issuer_id) SELECT id FROM issuers WHERE disabled_at IS NOT NULL;

-- What administration last chose for a client that registered itself: its developer chooses less at most.
ALTER TABLE clients ADD COLUMN scope_limit TEXT;

-- Requests that a user has signed in for are bounded in number, too.
CREATE INDEX interactions_signed_in ON interactions (fingerprint) WHERE session IS NOT NULL;

-- A merchant keeps the APIs that its clients named when the client is gone: tokens for them must not become another's.
CREATE TABLE merchant_resources (
    resource TEXT NOT NULL,
    merchant_id TEXT NOT NULL REFERENCES merchants (id) ON DELETE CASCADE,
    PRIMARY KEY (resource, merchant_id)
);
CREATE INDEX merchant_resources_by_merchant ON merchant_resources (merchant_id);
INSERT INTO merchant_resources (resource, merchant_id)
SELECT DISTINCT r.resource, c.merchant_id FROM client_resources r JOIN clients c ON c.id = r.client_id
WHERE c.merchant_id IS NOT NULL;

-- The numbers of merchants that are gone, which no other gets unasked.
CREATE TABLE former_merchants (
    number BIGINT PRIMARY KEY
);
