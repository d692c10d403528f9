"""What stories in a real browser need: the browser, an inbox, an app to return to, and an eye for each page."""
