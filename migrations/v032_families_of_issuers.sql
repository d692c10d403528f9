-- First, because it takes longest: what follows locks the table. A family that ended while its browser session lives
-- stays, to tell its client of that session's end.
CREATE INDEX token_families_ended ON token_families (ended_at) WHERE ended_at IS NOT NULL AND session_id IS NULL;
-- The deletion of a client ends the web views that were opened for it.
CREATE INDEX sessions_by_client ON sessions (client_id) WHERE client_id IS NOT NULL AND ended_at IS NULL;

-- The trusted issuer that vouched for the sign-in which a token family comes from, if one did: its tokens end with the
-- link to the user, and for clients of the issuer's merchant they are refused while the issuer is disabled, and end with
-- it. Families of programs before this step have none, but for those of browser sessions.
ALTER TABLE token_families ADD COLUMN issuer_id TEXT;
-- The browser session in which it was got, also when it has outlived that: the `sid` of its ID tokens of then.
ALTER TABLE token_families ADD COLUMN sid TEXT;
ALTER TABLE closed_issuers ADD COLUMN merchant_id TEXT;
-- When a secret of the client was last ended: its own tokens of before administer no more.
ALTER TABLE clients ADD COLUMN secret_ended_at BIGINT;
-- The issuer by which a user signed in who is asked whether to keep the account: the session rests on it.
ALTER TABLE verifications ADD COLUMN issuer_id TEXT;
DROP INDEX token_families_by_end;

UPDATE closed_issuers SET merchant_id = (SELECT i.merchant_id FROM issuers i WHERE i.id = closed_issuers.issuer_id);
UPDATE token_families SET issuer_id = (SELECT s.issuer_id FROM sessions s WHERE s.id = token_families.session_id)
WHERE session_id IN (SELECT id FROM sessions WHERE issuer_id IS NOT NULL AND ended_at IS NULL);
