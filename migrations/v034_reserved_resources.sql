-- The APIs that no merchant gets unless the platform lends them: those of merchants who are gone, and the platform's
-- own.
CREATE TABLE reserved_resources (
    resource TEXT PRIMARY KEY
);
INSERT INTO reserved_resources (resource)
SELECT DISTINCT r.resource FROM client_resources r JOIN clients c ON c.id = r.client_id WHERE c.merchant_id IS NULL;

-- Whether the platform lent the API to the merchant, to whom it belongs no longer than a client of theirs names it.
ALTER TABLE merchant_resources ADD COLUMN is_lent BIGINT NOT NULL DEFAULT 0 CHECK (is_lent IN (0, 1));
