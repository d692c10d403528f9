-- What a SPiD-compatible client has registered of SPiD's own settings, as JSON.
ALTER TABLE clients ADD COLUMN spid TEXT NOT NULL DEFAULT '{}';
-- How long a sign-in's refresh tokens live together, in milliseconds: a year. NULL: as long as they are used.
ALTER TABLE clients ADD COLUMN refresh_family_lifetime BIGINT DEFAULT 31536000000;
