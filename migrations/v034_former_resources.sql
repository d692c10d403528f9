-- The APIs that clients of merchants named who are gone: another's tokens must not open them, unless the platform lends
-- them.
CREATE TABLE former_resources (
    resource TEXT PRIMARY KEY
);
