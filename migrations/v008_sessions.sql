-- A session that a token bought knows whose token that was, and ends by its own mark when its token family does.

-- No foreign key: the row goes with its token family, which goes with the client.
ALTER TABLE sessions ADD COLUMN client_id TEXT;
UPDATE sessions SET client_id = (SELECT client_id FROM token_families WHERE id = sessions.family_id)
WHERE family_id IS NOT NULL;
UPDATE sessions SET ended_at = (SELECT ended_at FROM token_families WHERE id = sessions.family_id)
WHERE family_id IS NOT NULL AND ended_at IS NULL;
