-- An exchange code for a backend is stored when it is redeemed, not when it is sold: until then it carries what it says,
-- sealed. So what ends the unspent ones of a user and a client is a row here, for as long as they could be redeemed.
CREATE TABLE exchange_code_ends (
    user_id BIGINT NOT NULL,
    client_id TEXT NOT NULL,
    ended_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
CREATE INDEX exchange_code_ends_by_time ON exchange_code_ends (ended_at);
