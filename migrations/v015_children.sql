-- What was redeemed from a family's codes is its user's, so it is found among that user's families. An index of parents
-- cost each redemption one more page in its commit.
DROP INDEX token_families_by_parent;
