-- For how long the tabs of a browser app may refresh with the same token, in milliseconds; NULL: the default.
ALTER TABLE clients ADD COLUMN refresh_leeway BIGINT;
