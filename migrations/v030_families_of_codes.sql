-- A redeemed code for a backend is its token family, which has the code's id: the attempt that made it. Codes of programs
-- before this step stay in exchange_codes, as session codes do; neither program opens the other's codes.
ALTER TABLE token_families ADD COLUMN redeemed_by TEXT;
