-- When an issuer was deleted. Its links, of which there may be a million, go after that.
ALTER TABLE issuers ADD COLUMN deleted_at BIGINT;
CREATE INDEX issuers_by_deletion ON issuers (deleted_at) WHERE deleted_at IS NOT NULL;

-- How many clients may register with the token.
ALTER TABLE initial_access_tokens ADD COLUMN max_registrations BIGINT NOT NULL DEFAULT 1000;

-- Names of webhooks that were deleted, and whose they were: Ditto may still ask at the address.
CREATE TABLE webhook_names (
    name TEXT PRIMARY KEY,
    merchant_id TEXT NOT NULL
);
CREATE INDEX webhook_names_by_merchant ON webhook_names (merchant_id, name);
