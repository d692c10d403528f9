-- One word for one thing: a user, a token family, a device that is known, a request to an identity provider. No row
-- changes. Neither engine can rename an index in words that the other knows, so those are made again.

ALTER TABLE accounts RENAME TO users;
ALTER TABLE permissions RENAME TO token_families;
ALTER TABLE sign_in_places RENAME TO known_devices;
ALTER TABLE upstream_requests RENAME TO provider_requests;

ALTER TABLE connections RENAME COLUMN account_id TO user_id;
ALTER TABLE token_families RENAME COLUMN account_id TO user_id;
ALTER TABLE access_tokens RENAME COLUMN account_id TO user_id;
ALTER TABLE authorization_codes RENAME COLUMN account_id TO user_id;
ALTER TABLE exchange_codes RENAME COLUMN account_id TO user_id;
ALTER TABLE sessions RENAME COLUMN account_id TO user_id;
ALTER TABLE known_devices RENAME COLUMN account_id TO user_id;
ALTER TABLE issuer_subjects RENAME COLUMN account_id TO user_id;
ALTER TABLE consents RENAME COLUMN account_id TO user_id;
ALTER TABLE verifications RENAME COLUMN account_id TO user_id;
ALTER TABLE agreements RENAME COLUMN account_id TO user_id;
ALTER TABLE logins RENAME COLUMN account_id TO user_id;
ALTER TABLE provider_requests RENAME COLUMN account_id TO user_id;
ALTER TABLE introductions RENAME COLUMN account_id TO user_id;

ALTER TABLE access_tokens RENAME COLUMN permission_id TO family_id;
ALTER TABLE refresh_tokens RENAME COLUMN permission_id TO family_id;
ALTER TABLE authorization_codes RENAME COLUMN permission_id TO family_id;
ALTER TABLE exchange_codes RENAME COLUMN permission_id TO family_id;
ALTER TABLE exchange_codes RENAME COLUMN source_permission_id TO source_family_id;
ALTER TABLE sessions RENAME COLUMN permission_id TO family_id;

-- GCRA's own word for the moment at which the bucket is full again.
ALTER TABLE throttles RENAME COLUMN full_at TO theoretical_arrival;

-- An address is an IP address here, and nothing else.
ALTER TABLE sessions RENAME COLUMN address TO ip_address;
-- What is kept of a device is a fingerprint of its browser and address, never the address.
ALTER TABLE known_devices RENAME COLUMN address TO fingerprint;
ALTER TABLE logins RENAME COLUMN address TO ip_address;

DROP INDEX permissions_by_account;
CREATE INDEX token_families_by_user ON token_families (user_id);
DROP INDEX permissions_by_client;
CREATE INDEX token_families_by_client ON token_families (client_id);
DROP INDEX permissions_by_parent;
CREATE INDEX token_families_by_parent ON token_families (parent_id);
DROP INDEX permissions_by_session;
CREATE INDEX token_families_by_session ON token_families (session_id) WHERE session_id IS NOT NULL;
DROP INDEX permissions_by_expiry;
CREATE INDEX token_families_by_expiry ON token_families (expires_at) WHERE session_id IS NULL;
DROP INDEX permissions_by_end;
CREATE INDEX token_families_by_end ON token_families (ended_at) WHERE ended_at IS NOT NULL;
DROP INDEX refresh_tokens_by_permission;
CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family_id);
DROP INDEX sessions_by_account;
CREATE INDEX sessions_by_user ON sessions (user_id);
DROP INDEX sessions_by_permission;
CREATE INDEX sessions_by_family ON sessions (family_id);
DROP INDEX accounts_by_deletion;
CREATE INDEX users_by_deletion ON users (deletion_due_at) WHERE deletion_due_at IS NOT NULL;
DROP INDEX accounts_with_password;
CREATE INDEX users_with_password ON users (id) WHERE password_hash IS NOT NULL;
DROP INDEX sign_in_places_by_time;
CREATE INDEX known_devices_by_time ON known_devices (seen_at);
DROP INDEX issuer_subjects_by_account;
CREATE INDEX issuer_subjects_by_user ON issuer_subjects (user_id);
DROP INDEX verifications_by_account;
CREATE INDEX verifications_by_user ON verifications (user_id);
DROP INDEX logins_by_account;
CREATE INDEX logins_by_user ON logins (user_id, created_at, id);
DROP INDEX upstream_requests_by_issuer;
CREATE INDEX provider_requests_by_issuer ON provider_requests (issuer_id);
DROP INDEX upstream_requests_by_account;
CREATE INDEX provider_requests_by_user ON provider_requests (user_id) WHERE user_id IS NOT NULL;
DROP INDEX upstream_requests_by_expiry;
CREATE INDEX provider_requests_by_expiry ON provider_requests (expires_at);
