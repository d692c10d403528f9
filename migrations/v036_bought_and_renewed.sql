-- When a new password gave a session another secret: the codes of before are whoever's had copied the old one.
ALTER TABLE sessions ADD COLUMN renewed_at BIGINT;

-- What was got in the browser sessions that tokens bought, by the family that bought them: it ends with it, also when
-- the session's row is gone. Codes for backends have no session, and are not in it.
CREATE INDEX token_families_in_bought ON token_families (parent_id)
WHERE parent_id IS NOT NULL AND COALESCE(sid, session_id) IS NOT NULL;
