extension ExpectedHelp {
    static let merchant: [ExpectedHelp] = [
        ExpectedHelp(
            "merchant",
            """
            OVERVIEW: Merchants: the owners of clients.

            USAGE: spindle merchant <subcommand>

            OPTIONS:
              -h, --help              Show help information.

            SUBCOMMANDS:
              create                  Create a merchant.
              list                    List merchants.
              show                    Show a merchant.
              change                  Change the given members of a merchant.
              delete                  Delete a merchant, its clients and all their data.

              See 'spindle help merchant <subcommand>' for detailed help.
            """),
        ExpectedHelp(
            "merchant create",
            """
            OVERVIEW: Create a merchant.

            USAGE: spindle merchant create <options>

            OPTIONS:
              --name <name>           Its name.
              --logout-reaches-backends/--no-logout-reaches-backends
                                      Whether a device's logout also ends the tokens that
                                      backends got from it.
              --skip-introduction/--no-skip-introduction
                                      Whether it is the platform's own: its clients need no
                                      introduction to users.
              --logo-uri <logo-uri>   The https URL of a logo that its pages show; "" for
                                      none.
              --accent-color <accent-color>
                                      The colour of its pages, as #rrggbb; "" for ours.
              --events-uri <events-uri>
                                      The https URL that gets its events as signed tokens;
                                      "" for none.
              --mail-templates <mail-templates>
                                      A JSON file with its own texts for mails, replacing
                                      those it has; "" for ours.
              --number <number>       Its number in SPiD's API, 1 to 2147483647, if clients
                                      know one already.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "merchant list",
            """
            OVERVIEW: List merchants.

            USAGE: spindle merchant list <options>

            OPTIONS:
              --after <cursor>        Continue after this cursor of the previous page.
              --count <number>        How many to print at most, 1 to 1000. (default: 100)
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "merchant show",
            """
            OVERVIEW: Show a merchant.

            USAGE: spindle merchant show [<options>] <id>

            ARGUMENTS:
              <id>

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "merchant change",
            """
            OVERVIEW: Change the given members of a merchant.

            USAGE: spindle merchant change [<options>] <id>

            ARGUMENTS:
              <id>

            OPTIONS:
              --name <name>           Its name.
              --logout-reaches-backends/--no-logout-reaches-backends
                                      Whether a device's logout also ends the tokens that
                                      backends got from it.
              --skip-introduction/--no-skip-introduction
                                      Whether it is the platform's own: its clients need no
                                      introduction to users.
              --logo-uri <logo-uri>   The https URL of a logo that its pages show; "" for
                                      none.
              --accent-color <accent-color>
                                      The colour of its pages, as #rrggbb; "" for ours.
              --events-uri <events-uri>
                                      The https URL that gets its events as signed tokens;
                                      "" for none.
              --mail-templates <mail-templates>
                                      A JSON file with its own texts for mails, replacing
                                      those it has; "" for ours.
              --disabled/--no-disabled
                                      Disable it with all its clients, or enable it again.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "merchant delete",
            """
            OVERVIEW: Delete a merchant, its clients and all their data.

            USAGE: spindle merchant delete [<options>] <id>

            ARGUMENTS:
              <id>

            OPTIONS:
              --yes                   Delete without asking.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
    ]
}
