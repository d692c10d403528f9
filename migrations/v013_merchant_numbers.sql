-- The number of each merchant in SPiD's API: apps written for SPiD read numbers there. Merchants that exist are counted
-- in the order of their creation. NULL only for one that an older program creates while this step is already in.
ALTER TABLE merchants ADD COLUMN number BIGINT;
UPDATE merchants SET number = counted.number
FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY created_at, id) AS number FROM merchants) AS counted
WHERE counted.id = merchants.id;
CREATE UNIQUE INDEX merchants_by_number ON merchants (number);
