-- How long a rotated refresh token may be shown again while nobody has shown to have its successor.
ALTER TABLE clients ADD COLUMN refresh_repeat_window BIGINT NOT NULL DEFAULT 600000;

-- Whether an authorization request for a code needs PKCE, or a nonce with `openid`. Clients that there were go on as they
-- did; `doctor` names them.
ALTER TABLE clients ADD COLUMN requires_pkce BIGINT NOT NULL DEFAULT 0 CHECK (requires_pkce IN (0, 1));

-- How many rotations in a row, this token's own the last of them, were asked for again.
ALTER TABLE refresh_tokens ADD COLUMN repeat_run BIGINT NOT NULL DEFAULT 0;

-- An answer that came by a form goes on in the browser that sent it; nothing of it is kept.
ALTER TABLE upstream_requests DROP COLUMN sealed_answer;
