extension ExpectedHelp {
    /// A line that begins with this word would be read as the import of a module.
    private static let importing = "import"

    static let user: [ExpectedHelp] = [
        ExpectedHelp(
            "user",
            """
            OVERVIEW: Users of the merchants' apps.

            USAGE: spindle user <subcommand>

            OPTIONS:
              -h, --help              Show help information.

            SUBCOMMANDS:
              create                  Create a user.
              list                    List users.
              show                    Show a user.
              change                  Change the given members of a user. A new password
                                      ends their tokens and sessions.
              delete                  Delete a user and all their data at once; the user is
                                      told by mail.
              \(importing)                  Import users, one JSON document per line. Refused
                                      lines are reported; the rest is imported.

              See 'spindle help user <subcommand>' for detailed help.
            """),
        ExpectedHelp(
            "user create",
            """
            OVERVIEW: Create a user.

            USAGE: spindle user create <options>

            OPTIONS:
              --email <email>         The e-mail address, which is the user name.
              --email-verified/--no-email-verified
                                      Whether the address is verified.
              --password-stdin        Read the password, 8 to 128 characters, from the
                                      first line of the standard input.
              --name <name>           The full name.
              --given-name <given-name>
                                      The given name.
              --family-name <family-name>
                                      The family name.
              --preferred-username <preferred-username>
                                      The name to address them by.
              --phone-number <phone-number>
                                      The telephone number.
              --locale <locale>       The language, such as nb-NO.
              --attributes <json>     Attributes for the claims of clients: a JSON object
                                      of texts, lists of texts, or null.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "user list",
            """
            OVERVIEW: List users.

            USAGE: spindle user list <options>

            OPTIONS:
              --merchant <merchant>   Only users connected to clients of this merchant.
              --email <email>         Only the user with this e-mail address.
              --after <cursor>        Continue after this cursor of the previous page.
              --count <number>        How many to print at most, 1 to 1000. (default: 100)
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "user show",
            """
            OVERVIEW: Show a user.

            USAGE: spindle user show [<options>] <user>

            ARGUMENTS:
              <user>                  The user's e-mail address or number.

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "user change",
            """
            OVERVIEW: Change the given members of a user. A new password ends their tokens
            and sessions.

            If the address changes too, or was never proved, a new password also removes
            linked providers, the verified phone number, consents and connections to
            clients, as the first reset by mail does: another user may have set them up. A
            user who had no address keeps them. --email-verified alone removes nothing: it
            states that the user reads the address.

            USAGE: spindle user change [<options>] <user>

            ARGUMENTS:
              <user>                  The user's e-mail address or number.

            OPTIONS:
              --email <email>         The e-mail address, which is the user name.
              --email-verified/--no-email-verified
                                      Whether the address is verified.
              --password-stdin        Read the password, 8 to 128 characters, from the
                                      first line of the standard input.
              --name <name>           The full name.
              --given-name <given-name>
                                      The given name.
              --family-name <family-name>
                                      The family name.
              --preferred-username <preferred-username>
                                      The name to address them by.
              --phone-number <phone-number>
                                      The telephone number.
              --locale <locale>       The language, such as nb-NO.
              --attributes <json>     Attributes for the claims of clients: a JSON object
                                      of texts, lists of texts, or null.
              --disabled/--no-disabled
                                      Disable the user and end their tokens and sessions,
                                      or enable them again.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "user delete",
            """
            OVERVIEW: Delete a user and all their data at once; the user is told by mail.

            USAGE: spindle user delete [<options>] <user>

            ARGUMENTS:
              <user>                  The user's e-mail address or number.

            OPTIONS:
              --yes                   Delete without asking.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "user import",
            """
            OVERVIEW: Import users, one JSON document per line. Refused lines are reported;
            the rest is imported.

            Running it again skips addresses that exist. Users who were deleted since, or
            have changed their address, are created again. The format of a line is in
            docs/guide-import.md.

            USAGE: spindle user import [<options>] <file>

            ARGUMENTS:
              <file>                  The file; - reads the standard input.

            OPTIONS:
              --map <file>            A new file for the user that each line became, or was
                                      already, one JSON document per line.
              --dry-run               Read and count, but store nothing.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
    ]
}
