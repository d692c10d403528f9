extension ExpectedHelp {
    static let program: [ExpectedHelp] = [
        ExpectedHelp(
            "",
            """
            OVERVIEW: An OAuth 2.0 server for apps, their backends and their users.

            USAGE: spindle <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              init                    Make the database, the keys and an admin client. A
                                      second run changes nothing.
              serve                   Run the server until SIGTERM or SIGINT.
              migrate                 Bring the schema up to date.
              merchant                Merchants: the owners of clients.
              client                  Clients: apps and backends that ask for tokens.
              user                    Users of the merchants' apps.
              key                     Signing keys, and the master key that seals them.
              event                   Who did what, when and from where.
              doctor                  Check configuration, pages, certificate, database,
                                      keys, clock, mail, text messages and issuer; exit
                                      with 1 if one is bad.
              backup                  Copy the database to FILE while the server runs. The
                                      master key is not in it.
              restore                 Replace the database with the backup FILE. Stop the
                                      server first.
              version                 Print the version.

            TOPICS:
              settings                The settings of the server, which every command takes.
              client-settings         All settings of a client.

              See 'spindle help <subcommand>' for detailed help.
            """),
        ExpectedHelp(
            "init",
            """
            OVERVIEW: Make the database, the keys and an admin client. A second run changes
            nothing.

            USAGE: spindle init <options>

            OPTIONS:
              --json                  Print JSON.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "serve",
            """
            OVERVIEW: Run the server until SIGTERM or SIGINT.

            USAGE: spindle serve <options>

            OPTIONS:
              --migrate               Bring the schema of a PostgreSQL database up to date
                                      first; on SQLite that is always done.
              --dev                   For development on this machine: any user can be
                                      signed in by name. Creates what is missing, including
                                      the client dev. Its database is never served under
                                      https afterwards.
              --dev-redirect-uri <uri>
                                      With --dev: a redirect URI of the client dev; may be
                                      repeated. The given ones replace those it has; one
                                      whose path ends with /_oidc_callback is for the
                                      client sync_gateway.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "migrate",
            """
            OVERVIEW: Bring the schema up to date.

            USAGE: spindle migrate <options>

            OPTIONS:
              --check                 Change nothing; exit with 1 if there is something to
                                      do.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "doctor",
            """
            OVERVIEW: Check configuration, pages, certificate, database, keys, clock, mail,
            text messages and issuer; exit with 1 if one is bad.

            USAGE: spindle doctor <options>

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "backup",
            """
            OVERVIEW: Copy the database to FILE while the server runs. The master key is
            not in it.

            USAGE: spindle backup [<options>] <file>

            ARGUMENTS:
              <file>                  Where the copy goes; the file must not exist.

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "restore",
            """
            OVERVIEW: Replace the database with the backup FILE. Stop the server first.

            USAGE: spindle restore [<options>] <file>

            ARGUMENTS:
              <file>                  A file that `spindle backup` made.

            OPTIONS:
              --force                 Replace an existing database; changes since the
                                      backup are lost.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "version",
            """
            OVERVIEW: Print the version.

            USAGE: spindle version

            OPTIONS:
              -h, --help              Show help information.

            """),
    ]
}
