"""What the black-box tests share: the server process, its clients, a person's browser, a PostgreSQL cluster."""
