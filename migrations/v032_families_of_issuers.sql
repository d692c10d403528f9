-- The trusted issuer that vouched for the sign-in which a token family comes from, if one did: its tokens are refused
-- while the issuer is disabled, and end with it and with its link to the user. Families of programs before this step have
-- none, but for those of browser sessions.
ALTER TABLE token_families ADD COLUMN issuer_id TEXT;
CREATE INDEX token_families_by_issuer ON token_families (issuer_id) WHERE issuer_id IS NOT NULL AND ended_at IS NULL;
UPDATE token_families SET issuer_id = (SELECT s.issuer_id FROM sessions s WHERE s.id = token_families.session_id)
WHERE session_id IN (SELECT id FROM sessions WHERE issuer_id IS NOT NULL AND ended_at IS NULL);

-- The browser session that a family outlived. It is the `sid` of ID tokens that were given before.
ALTER TABLE token_families ADD COLUMN former_session_id TEXT;
