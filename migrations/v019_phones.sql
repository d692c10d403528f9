-- The phone number that a user has shown to read text messages of. A number is one user's at a time.
ALTER TABLE users ADD COLUMN verified_phone TEXT;
ALTER TABLE users ADD COLUMN phone_verified_at BIGINT;
CREATE UNIQUE INDEX users_by_verified_phone ON users (verified_phone) WHERE verified_phone IS NOT NULL;

-- Where a code was sent by text message; its `email` is empty then.
ALTER TABLE verifications ADD COLUMN phone TEXT;
CREATE INDEX verifications_by_phone ON verifications (phone) WHERE phone IS NOT NULL;
