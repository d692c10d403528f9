-- Failed attempts are few among a client's.
CREATE INDEX logins_failed ON logins (client_id, created_at, id) WHERE succeeded = 0;
