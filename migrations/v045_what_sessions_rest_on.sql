-- The access token that bought a session, by its fingerprint: one that has expired, and is forgotten, still signs out of
-- what it opened, and of what was got there. It stands with these, which are bounded in number, and till then with the
-- code.
ALTER TABLE sessions ADD COLUMN bought_with TEXT;
ALTER TABLE exchange_codes ADD COLUMN bought_with TEXT;
CREATE INDEX exchange_codes_by_token ON exchange_codes (bought_with)
    WHERE bought_with IS NOT NULL AND spent_at IS NULL;
ALTER TABLE token_families ADD COLUMN bought_with TEXT;
CREATE INDEX token_families_by_buyer ON token_families (bought_with)
    WHERE bought_with IS NOT NULL AND ended_at IS NULL;
CREATE INDEX sessions_by_token ON sessions (bought_with) WHERE bought_with IS NOT NULL AND ended_at IS NULL;
CREATE INDEX session_buyers_by_family ON session_buyers (family_id);
UPDATE sessions SET bought_with = (
    SELECT MAX(b.fingerprint) FROM session_buyers b WHERE b.family_id = sessions.family_id)
WHERE family_id IS NOT NULL AND ended_at IS NULL;
UPDATE token_families SET bought_with = (
    SELECT MAX(b.fingerprint) FROM session_buyers b WHERE b.family_id = token_families.parent_id)
WHERE parent_id IN (SELECT family_id FROM session_buyers) AND sid IS NOT NULL AND ended_at IS NULL;
DROP TABLE session_buyers;

-- Providers whose sign-ins the platform took back: the sessions that they opened before that are good at their
-- merchant alone. A row each, because a provider may have opened any number.
CREATE TABLE confined_issuers (
    issuer_id TEXT PRIMARY KEY,
    merchant_id TEXT NOT NULL,
    opened_before BIGINT NOT NULL
);
CREATE INDEX confined_issuers_by_merchant ON confined_issuers (merchant_id, issuer_id);

-- Web views that were bought by a sign-in at an issuer of which it was not noted when its user had signed in.
UPDATE sessions SET method = 'issuer_undated'
WHERE method = 'token' AND ended_at IS NULL
    AND family_id IN (SELECT id FROM token_families WHERE opened_by = 'issuer_undated');

-- When the client became its merchant's own, or ceased to be: pages of before named another.
ALTER TABLE clients ADD COLUMN first_party_changed_at BIGINT;
