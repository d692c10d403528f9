"""What the black-box tests share: the server process, its clients, a user's browser, a PostgreSQL cluster."""
