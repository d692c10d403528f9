-- When a new password gave a session another secret: the codes of before are whoever's had copied the old one.
ALTER TABLE sessions ADD COLUMN renewed_at BIGINT;
