extension ExpectedHelp {
    static let client: [ExpectedHelp] = [
        ExpectedHelp(
            "client",
            """
            OVERVIEW: Clients: apps and backends that ask for tokens.

            USAGE: spindle client <subcommand>

            OPTIONS:
              -h, --help              Show help information.

            SUBCOMMANDS:
              create                  Register a client. Its secrets are shown once.
              list                    List clients.
              show                    Show a client.
              change                  Change the given members of a client.
              delete                  Delete a client and all its data.
              add-secret              Add a second live secret, shown once. End the other
                                      one when it is no longer used.
              end-secret              End one of its live secrets; without the id of a
                                      secret, list them.

              See 'spindle help client <subcommand>' for detailed help.
            """),
        ExpectedHelp(
            "client create",
            """
            OVERVIEW: Register a client. Its secrets are shown once.

            USAGE: spindle client create <options>

            OPTIONS:
              --merchant <merchant>   The id of the merchant that it belongs to.
              --id <id>               An id that its programs know already. By default a
                                      new one is made.
              --token-endpoint-auth-method <token-endpoint-auth-method>
                                      client_secret_basic, client_secret_post,
                                      client_secret_jwt, or none for an app that can keep
                                      no secret. It cannot change.
              --name <name>           Its name.
              --redirect-uri <redirect-uri>
                                      A redirect URI; may be repeated, and replaces those
                                      it has.
              --grant-type <grant-type>
                                      A grant type it may use; may be repeated, and
                                      replaces those it has.
              --scope <scope>         The scope tokens it may have, separated by spaces.
                                      For a new one with authorization_code by default
                                      openid profile email.
              --first-party/--no-first-party
                                      Whether it is the merchant's own: no page asks for
                                      consent.
              --spid-compatible/--no-spid-compatible
                                      Whether it gets SPiD's answers. --no-spid-compatible
                                      deletes its settings for SPiD.
              --access-token-lifetime <access-token-lifetime>
                                      Seconds that its access tokens live, 10 to 31536000;
                                      to 86400 where it can renew them.
              --web-origin <web-origin>
                                      An origin of its web pages, which may call this
                                      server; may be repeated, and replaces those it has.
                                      "" for none.
              --post-logout-redirect-uri <post-logout-redirect-uri>
                                      A URI that a logout may return to; may be repeated,
                                      and replaces those it has. "" for none.
              --set <member=value>    Set any setting of a client, see 'spindle help
                                      client-settings'; may be repeated.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings, spindle help client-settings

            """),
        ExpectedHelp(
            "client list",
            """
            OVERVIEW: List clients.

            USAGE: spindle client list <options>

            OPTIONS:
              --merchant <merchant>   Of this merchant only.
              --after <cursor>        Continue after this cursor of the previous page.
              --count <number>        How many to print at most, 1 to 1000. (default: 100)
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "client show",
            """
            OVERVIEW: Show a client.

            USAGE: spindle client show [<options>] <id>

            ARGUMENTS:
              <id>

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "client change",
            """
            OVERVIEW: Change the given members of a client.

            USAGE: spindle client change [<options>] <id>

            ARGUMENTS:
              <id>

            OPTIONS:
              --name <name>           Its name.
              --redirect-uri <redirect-uri>
                                      A redirect URI; may be repeated, and replaces those
                                      it has.
              --grant-type <grant-type>
                                      A grant type it may use; may be repeated, and
                                      replaces those it has.
              --scope <scope>         The scope tokens it may have, separated by spaces.
                                      For a new one with authorization_code by default
                                      openid profile email.
              --first-party/--no-first-party
                                      Whether it is the merchant's own: no page asks for
                                      consent.
              --spid-compatible/--no-spid-compatible
                                      Whether it gets SPiD's answers. --no-spid-compatible
                                      deletes its settings for SPiD.
              --access-token-lifetime <access-token-lifetime>
                                      Seconds that its access tokens live, 10 to 31536000;
                                      to 86400 where it can renew them.
              --web-origin <web-origin>
                                      An origin of its web pages, which may call this
                                      server; may be repeated, and replaces those it has.
                                      "" for none.
              --post-logout-redirect-uri <post-logout-redirect-uri>
                                      A URI that a logout may return to; may be repeated,
                                      and replaces those it has. "" for none.
              --set <member=value>    Set any setting of a client, see 'spindle help
                                      client-settings'; may be repeated.
              --disabled/--no-disabled
                                      Disable it, or enable it again.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings, spindle help client-settings

            """),
        ExpectedHelp(
            "client delete",
            """
            OVERVIEW: Delete a client and all its data.

            USAGE: spindle client delete [<options>] <id>

            ARGUMENTS:
              <id>

            OPTIONS:
              --yes                   Delete without asking.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "client add-secret",
            """
            OVERVIEW: Add a second live secret, shown once. End the other one when it is no
            longer used.

            USAGE: spindle client add-secret [<options>] <id>

            ARGUMENTS:
              <id>

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "client end-secret",
            """
            OVERVIEW: End one of its live secrets; without the id of a secret, list them.

            Tokens that the client got for itself lose their admin scopes. Their other
            scopes last until they expire, a day at most.

            USAGE: spindle client end-secret [<options>] <id> [<secret>]

            ARGUMENTS:
              <id>
              <secret>

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
    ]
}
