-- How often a session got another secret, as by a new password, and how often it had when a code was given there: codes
-- of before are whoever's had copied the old one.
ALTER TABLE sessions ADD COLUMN renewals BIGINT NOT NULL DEFAULT 0;
ALTER TABLE authorization_codes ADD COLUMN renewals BIGINT NOT NULL DEFAULT 0;

-- What was got in the browser sessions that tokens bought, by the family that bought them: it ends with it, also when
-- the session's row is gone. Codes for backends have no session, and are not in it.
CREATE INDEX token_families_in_bought ON token_families (parent_id)
WHERE parent_id IS NOT NULL AND COALESCE(sid, session_id) IS NOT NULL;

-- Whether the platform has ever had people sent to an issuer, or let it vouch for addresses: what was linked to it then
-- stays, so it stays the platform's to change. For those that vouch see `guardIssuers`.
ALTER TABLE issuers ADD COLUMN guarded BIGINT NOT NULL DEFAULT 0 CHECK (guarded IN (0, 1));
UPDATE issuers SET guarded = 1
WHERE client_id IS NOT NULL AND (provider IS NULL OR COALESCE(jwks, jwks_uri, discovery_url) IS NOT NULL);
