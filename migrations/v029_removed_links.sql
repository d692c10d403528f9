-- Issuers that a user has disconnected: an address alone does not connect them again, only the user does.
CREATE TABLE removed_links (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer_id TEXT NOT NULL REFERENCES issuers (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, issuer_id)
);
CREATE INDEX removed_links_by_issuer ON removed_links (issuer_id);
