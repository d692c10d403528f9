-- The subjects that users have disconnected: none leads to a new user while its user can connect it again.
CREATE TABLE removed_subjects (
    issuer_id TEXT NOT NULL REFERENCES issuers (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer_id, subject, user_id)
);
CREATE INDEX removed_subjects_by_user ON removed_subjects (user_id, issuer_id);
CREATE INDEX removed_subjects_by_subject ON removed_subjects (subject);
