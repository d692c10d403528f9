-- The browser session, and the cookie of it, in which a user began to connect another issuer.
ALTER TABLE provider_requests ADD COLUMN session_id TEXT;
ALTER TABLE provider_requests ADD COLUMN session_renewals BIGINT;
