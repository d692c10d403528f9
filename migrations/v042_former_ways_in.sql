-- The method of the sign-in that a token family comes from, by way of others too: these may be forgotten before it.
ALTER TABLE token_families ADD COLUMN opened_by TEXT;

-- The providers that users have disconnected at issuers of merchants that are gone: no other merchant's connects them
-- again, only the user does.
CREATE TABLE removed_providers (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    provider TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, provider)
);
