-- What SPiD's clients keep here: a short text under a key, of one of their users or, without `user_id`, their own. `id` is
-- made of client, user and key, so each of them has one; `size` is that of `value` in bytes. What is of a user goes with
-- their connection to the client.
CREATE TABLE data_objects (
    id TEXT PRIMARY KEY,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    size BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    FOREIGN KEY (user_id, client_id) REFERENCES connections (user_id, client_id) ON DELETE CASCADE
);
CREATE INDEX data_objects_by_user ON data_objects (user_id, client_id, id);
CREATE INDEX data_objects_by_client ON data_objects (client_id, created_at, id);
CREATE INDEX data_objects_by_change ON data_objects (client_id, updated_at, id);
CREATE INDEX data_objects_by_name ON data_objects (client_id, name, created_at, id);
