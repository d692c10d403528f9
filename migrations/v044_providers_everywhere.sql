-- Whether a sign-in at a provider is good at every merchant. That is the platform's to say: whoever owns the app there
-- can have sign-ins begun in it. Facebook gives such an owner a code without the user, so those that are registered are
-- good at their own merchant until the platform says more.
ALTER TABLE issuers ADD COLUMN signs_in_everywhere BIGINT NOT NULL DEFAULT 0 CHECK (signs_in_everywhere IN (0, 1));
UPDATE issuers SET signs_in_everywhere = 1
WHERE provider IN ('google', 'apple') AND client_id IS NOT NULL
    AND COALESCE(jwks, jwks_uri, discovery_url) IS NULL;
-- So are the sessions that they have opened.
UPDATE sessions SET merchant_id = (SELECT i.merchant_id FROM issuers i WHERE i.id = sessions.issuer_id)
WHERE merchant_id IS NULL AND family_id IS NULL AND ended_at IS NULL
    AND issuer_id IN (SELECT id FROM issuers WHERE provider = 'facebook');

-- Of sign-ins at an issuer it was not noted whether it said when its user had signed in.
UPDATE token_families SET opened_by = 'issuer_undated'
WHERE opened_by = 'issuer' OR opened_by IS NULL AND method = 'issuer';
