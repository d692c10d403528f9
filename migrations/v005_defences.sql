-- How long a rotated refresh token may be shown again while nobody has shown to have its successor.
ALTER TABLE clients ADD COLUMN refresh_repeat_window BIGINT NOT NULL DEFAULT 600000;

-- Whether an authorization request for a code needs PKCE, or a nonce with `openid`. Clients that there were go on as they
-- did; `doctor` names them.
ALTER TABLE clients ADD COLUMN requires_pkce BIGINT NOT NULL DEFAULT 0 CHECK (requires_pkce IN (0, 1));

-- How many rotations in a row, this token's own the last of them, were asked for again.
ALTER TABLE refresh_tokens ADD COLUMN repeat_run BIGINT NOT NULL DEFAULT 0;

-- An answer that came by a form goes on in the browser that sent it; nothing of it is kept.
ALTER TABLE upstream_requests DROP COLUMN sealed_answer;

-- Whether a client of the issuer's merchant asked for the link, and not the person in a browser: what it leads to is that
-- merchant's business alone.
ALTER TABLE issuer_subjects ADD COLUMN is_confined BIGINT NOT NULL DEFAULT 0 CHECK (is_confined IN (0, 1));

-- Somebody's hash to work on where an address has none (SignIn.standIn).
CREATE INDEX accounts_with_password ON accounts (id) WHERE password_hash IS NOT NULL;

-- Which merchants a person has been introduced to, by a page that names both. Whoever uses a merchant's own clients
-- already has met it.
CREATE TABLE introductions (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    merchant_id TEXT NOT NULL REFERENCES merchants (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, merchant_id)
);
CREATE INDEX introductions_by_merchant ON introductions (merchant_id, account_id);
INSERT INTO introductions (account_id, merchant_id, created_at)
SELECT n.account_id, c.merchant_id, MIN(n.created_at)
FROM connections n JOIN clients c ON c.id = n.client_id
WHERE c.merchant_id IS NOT NULL AND c.first_party = 1
GROUP BY n.account_id, c.merchant_id;

-- Set for a merchant of the platform's own: everybody here has met it.
ALTER TABLE merchants ADD COLUMN skips_introduction BIGINT NOT NULL DEFAULT 0 CHECK (skips_introduction IN (0, 1));

-- Which client may ask for tokens for which API (RFC 8707), as its `openid` says. An API belongs to the merchants whose
-- clients name it already; Migration.resources() fills this in.
CREATE TABLE client_resources (
    resource TEXT NOT NULL,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    PRIMARY KEY (resource, client_id)
);
CREATE INDEX client_resources_by_client ON client_resources (client_id);

-- Whether somebody left for another issuer from a page of ours, and not by a link from elsewhere.
ALTER TABLE upstream_requests ADD COLUMN from_page BIGINT NOT NULL DEFAULT 0 CHECK (from_page IN (0, 1));
