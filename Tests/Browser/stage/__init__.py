"""What tests in a real browser need: the browser, an inbox, an app to return to, and checks of each page."""
