-- Whose part of the workers a delivery takes: the merchant of the client that it goes to, or nobody's.
ALTER TABLE deliveries ADD COLUMN share TEXT NOT NULL DEFAULT '';
CREATE INDEX deliveries_by_share ON deliveries (kind, share, due_at);
