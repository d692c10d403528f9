-- What administration last chose for a client that registered itself: its developer chooses less at most.
ALTER TABLE clients ADD COLUMN grant_limit TEXT;

-- The names of merchants that are gone: no other merchant passes for them.
ALTER TABLE former_merchants ADD COLUMN name TEXT;

-- The families that a family's parent came from, nearest first, as far as they fit: a parent may be forgotten before what
-- was redeemed from it.
ALTER TABLE token_families ADD COLUMN ancestors TEXT;
