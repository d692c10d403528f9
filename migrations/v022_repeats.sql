-- The token families of a client that acts for itself, the newest first: those that live, and those that have ended.
-- First, because it takes longest: no statement below locks a table meanwhile.
CREATE INDEX token_families_own ON token_families (client_id, created_at, id)
    WHERE user_id IS NULL AND ended_at IS NULL;
CREATE INDEX token_families_own_ended ON token_families (client_id, ended_at)
    WHERE user_id IS NULL AND ended_at IS NOT NULL;

-- How often the answer to this token's rotation was repeated.
ALTER TABLE refresh_tokens ADD COLUMN repeats BIGINT NOT NULL DEFAULT 0;

-- Which attempt consumed what was done for the request last: it may run again after a COMMIT of unknown outcome.
ALTER TABLE interactions ADD COLUMN answered_by TEXT;
