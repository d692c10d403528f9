extension ExpectedHelp {
    /// A line that begins with this word would be read as the import of a module.
    private static let importing = "import"

    static let user: [ExpectedHelp] = [
        ExpectedHelp(
            "user",
            """
            OVERVIEW: Users: the people who sign in.

            USAGE: spindle user <subcommand>

            OPTIONS:
            \(builtIns)

            SUBCOMMANDS:
              create                  Make an account.
              list                    List accounts.
              show                    Show an account.
              change                  Change what is named of an account. A new password
                                      ends its tokens and sessions.
              delete                  Delete an account and all it holds, at once; the
                                      person is told by mail.
              \(importing)                  Import accounts, a JSON document a line. Lines that
                                      are refused are told of; the rest is taken.

              See 'spindle help user <subcommand>' for detailed help.
            """),
        ExpectedHelp(
            "user create",
            """
            OVERVIEW: Make an account.

            USAGE: spindle user create <options>

            \(configuration)

            OPTIONS:
              --email <email>         The e-mail address, which is the user name.
              --email-verified/--no-email-verified
                                      Whether the address is known to be theirs.
              --password-stdin        Read the password, 8 to 128 characters, from the
                                      first line of the standard input.
              --name <name>           The full name.
              --given-name <given-name>
                                      The given name.
              --family-name <family-name>
                                      The family name.
              --preferred-username <preferred-username>
                                      The name they like to be called by.
              --phone-number <phone-number>
                                      The telephone number.
              --locale <locale>       The language, such as nb-NO.
              --attributes <json>     Attributes for the claims of clients: a JSON object
                                      of texts, lists of texts, or null.
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "user list",
            """
            OVERVIEW: List accounts.

            USAGE: spindle user list <options>

            \(configuration)

            OPTIONS:
              --merchant <merchant>   Those connected to clients of this merchant only.
              --after <cursor>        Go on after this cursor of the page before.
              --count <number>        How many to print at most, 1 to 1000. (default: 100)
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "user show",
            """
            OVERVIEW: Show an account.

            USAGE: spindle user show [<options>] <user>

            ARGUMENTS:
              <user>                  The user's e-mail address or number.

            \(configuration)

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "user change",
            """
            OVERVIEW: Change what is named of an account. A new password ends its tokens
            and sessions.

            A new password together with another address, or where nobody has proved the
            address, also removes linked providers, the verified phone number, consents and
            connections to clients, as the first reset by mail does: somebody else may have
            set them up. A user who had no address keeps them. --email-verified alone
            removes nothing: it says that whoever has the account reads the address.

            USAGE: spindle user change [<options>] <user>

            ARGUMENTS:
              <user>                  The user's e-mail address or number.

            \(configuration)

            OPTIONS:
              --email <email>         The e-mail address, which is the user name.
              --email-verified/--no-email-verified
                                      Whether the address is known to be theirs.
              --password-stdin        Read the password, 8 to 128 characters, from the
                                      first line of the standard input.
              --name <name>           The full name.
              --given-name <given-name>
                                      The given name.
              --family-name <family-name>
                                      The family name.
              --preferred-username <preferred-username>
                                      The name they like to be called by.
              --phone-number <phone-number>
                                      The telephone number.
              --locale <locale>       The language, such as nb-NO.
              --attributes <json>     Attributes for the claims of clients: a JSON object
                                      of texts, lists of texts, or null.
              --disabled/--no-disabled
                                      Disable it and end its tokens and sessions, or enable
                                      it again.
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "user delete",
            """
            OVERVIEW: Delete an account and all it holds, at once; the person is told by
            mail.

            USAGE: spindle user delete [<options>] <user>

            ARGUMENTS:
              <user>                  The user's e-mail address or number.

            \(configuration)

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "user import",
            """
            OVERVIEW: Import accounts, a JSON document a line. Lines that are refused are
            told of; the rest is taken.

            Running it again passes over the addresses that are there. Who has deleted the
            account since, or has another address by now, is made anew. The form of a line
            is in docs/guide-import.md.

            USAGE: spindle user import [<options>] <file>

            ARGUMENTS:
              <file>                  The file; - reads the standard input.

            \(configuration)

            OPTIONS:
              --map <file>            A new file: which user each line became, or stands
                                      for, a JSON document a line.
              --dry-run               Read and count as it would, and store nothing.
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
    ]
}
