-- The `state` that an app sends when it buys a session code. It comes back with the redirect that spends the code.
ALTER TABLE exchange_codes ADD COLUMN state TEXT;
