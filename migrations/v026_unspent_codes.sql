-- A spent code is remembered, so that its replay is noticed; one that was never spent is of no use once it has expired,
-- and goes at once: whoever asks for codes over and over fills no disk. So each kind has an index of its own.
CREATE INDEX authorization_codes_unspent ON authorization_codes (expires_at) WHERE spent_at IS NULL;
CREATE INDEX authorization_codes_spent ON authorization_codes (expires_at) WHERE spent_at IS NOT NULL;
DROP INDEX authorization_codes_by_expiry;
CREATE INDEX exchange_codes_unspent ON exchange_codes (expires_at) WHERE spent_at IS NULL;
CREATE INDEX exchange_codes_spent ON exchange_codes (expires_at) WHERE spent_at IS NOT NULL;
DROP INDEX exchange_codes_by_expiry;
