-- For millions of rows: deletions in the background, and searches that start from an index.

-- Since when a client or a merchant is being deleted. Nobody sees it from then on; what it owns goes in batches.
ALTER TABLE clients ADD COLUMN deleted_at BIGINT;
CREATE INDEX clients_by_deletion ON clients (deleted_at) WHERE deleted_at IS NOT NULL;
ALTER TABLE merchants ADD COLUMN deleted_at BIGINT;
CREATE INDEX merchants_by_deletion ON merchants (deleted_at) WHERE deleted_at IS NOT NULL;

-- Searches of users: by the beginning of an address, for which equality serves under any collation, and by time.
CREATE INDEX users_by_email_start ON users (SUBSTR(email, 1, 3));
CREATE INDEX users_by_creation ON users (created_at, id);
CREATE INDEX users_by_change ON users (updated_at, id);

-- Attempts to sign in at a client from one address, the newest first.
CREATE INDEX logins_by_place ON logins (client_id, ip_address, created_at, id);
