-- The sweep deletes deliveries by when they expire. By when they are due, it read all that wait for their turn.
CREATE INDEX deliveries_by_expiry ON deliveries (expires_at);
DROP INDEX deliveries_by_due;
