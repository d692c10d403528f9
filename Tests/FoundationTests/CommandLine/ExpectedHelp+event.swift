extension ExpectedHelp {
    static let event: [ExpectedHelp] = [
        ExpectedHelp(
            "event",
            """
            OVERVIEW: Who did what, when and from where.

            USAGE: spindle event <subcommand>

            OPTIONS:
              -h, --help              Show help information.

            SUBCOMMANDS:
              list                    List events, the newest first.
              verify                  Check that no event is missing or was changed.

              See 'spindle help event <subcommand>' for detailed help.
            """),
        ExpectedHelp(
            "event list",
            """
            OVERVIEW: List events, the newest first.

            With --follow it prints each event as it is stored, the oldest first, until it
            is interrupted: as JSON, one object a line.

            USAGE: spindle event list <options>

            OPTIONS:
              --user <user>           Only events of this user: an e-mail address or a
                                      number.
              --client <client_id>    Only events of this client.
              --type <type>           Only events of this type, such as user.changed.
              --actor <id>            Only what the one with this id did.
              --subject <id>          Only what was done to the one with this id.
              --request <id>          Only events of the request with this id in the log.
              --follow                Go on printing events as they happen.
              --after <cursor>        Continue after this cursor of the previous page.
              --count <number>        How many to print at most, 1 to 1000. (default: 100)
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "event verify",
            """
            OVERVIEW: Check that no event is missing or was changed.

            Each event is chained to the one before it by a hash. Prints the last link, as
            POSITION:HASH: note it elsewhere and give it later as --since, because one who
            can change the database could compute all hashes anew. Exits with 1 at a gap.

            USAGE: spindle event verify <options>

            OPTIONS:
              --since <link>          A link that an earlier check printed, which must
                                      still be in the chain.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
    ]
}
