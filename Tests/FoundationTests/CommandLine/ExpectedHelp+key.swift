extension ExpectedHelp {
    static let key: [ExpectedHelp] = [
        ExpectedHelp(
            "key",
            """
            OVERVIEW: Signing keys, and the master key that seals them.

            USAGE: spindle key <subcommand>

            OPTIONS:
              -h, --help              Show help information.

            SUBCOMMANDS:
              list                    List the signing keys; with --json also their public
                                      halves.
              rotate                  Make the next signing key of each algorithm in use,
                                      ahead of its time.
              withdraw                Take a stolen signing key out of service at once.
              reseal                  Reseal every stored secret under another master key.
                                      Stop every server first.

              See 'spindle help key <subcommand>' for detailed help.
            """),
        ExpectedHelp(
            "key list",
            """
            OVERVIEW: List the signing keys; with --json also their public halves.

            USAGE: spindle key list <options>

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "key rotate",
            """
            OVERVIEW: Make the next signing key of each algorithm in use, ahead of its time.

            It is published at once and signs ten minutes later, when every cache has it.
            Signatures of the old key stay valid until they expire. If a next key exists
            already, it signs then. The server also rotates by itself, as the setting
            key_rotation says. If a key was stolen: spindle key withdraw.

            USAGE: spindle key rotate <options>

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "key withdraw",
            """
            OVERVIEW: Take a stolen signing key out of service at once.

            It is no longer published, and another key signs in its place. A running server
            follows within a minute; others may cache the key set for five more minutes.
            Until then they accept what the stolen key signed, and may refuse what the new
            one signs. Afterwards no application accepts what the stolen key signed, and
            users must sign in there again. This server checks its own access tokens
            against its records, so JWTs that it really issued stay valid here, also at
            introspection; forged ones never were.

            USAGE: spindle key withdraw [<options>] <id>

            ARGUMENTS:
              <id>                    The key's id, as key list shows it: the kid of what
                                      it signed.

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
        ExpectedHelp(
            "key reseal",
            """
            OVERVIEW: Reseal every stored secret under another master key. Stop every
            server first.

            On SQLite a running server is detected. On PostgreSQL a server that still runs
            with the old key stops being ready (/readyz): it cannot open what was resealed,
            and stores no secret. Restart it.

            USAGE: spindle key reseal [<options>] --new-key-file <new-key-file>

            OPTIONS:
              --new-key-file <new-key-file>
                                      The file of the new master key; created if missing.
              --json                  Print JSON, as the administration endpoints answer it.
              -h, --help              Show help information.

              More options: spindle help settings

            """),
    ]
}
