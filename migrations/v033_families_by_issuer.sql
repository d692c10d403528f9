-- Apart from the step that adds the column: that locks out even readers.
CREATE INDEX token_families_by_issuer ON token_families (issuer_id, client_id)
WHERE issuer_id IS NOT NULL AND ended_at IS NULL;
