-- A merchant's own words for the mails that its clients cause: a JSON document that was checked when it was written.
ALTER TABLE merchants ADD COLUMN mail_templates TEXT;
