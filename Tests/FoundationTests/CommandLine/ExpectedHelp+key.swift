extension ExpectedHelp {
    static let key: [ExpectedHelp] = [
        ExpectedHelp(
            "key",
            """
            OVERVIEW: Signing keys, and the master key that seals them.

            USAGE: spindle key <subcommand>

            OPTIONS:
            \(builtIns)

            SUBCOMMANDS:
              list                    List the signing keys; with --json also their public
                                      halves.
              rotate                  Make the next signing key of each algorithm in use,
                                      ahead of its time.
              withdraw                Take a signing key out of service at once, because it
                                      is stolen.
              reseal                  Seal every stored secret anew under another master
                                      key. Stop every server first.

              See 'spindle help key <subcommand>' for detailed help.
            """),
        ExpectedHelp(
            "key list",
            """
            OVERVIEW: List the signing keys; with --json also their public halves.

            USAGE: spindle key list <options>

            \(configuration)

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "key rotate",
            """
            OVERVIEW: Make the next signing key of each algorithm in use, ahead of its time.

            It is published at once and signs ten minutes later, when every cache knows it.
            What the old key signed verifies until it has expired. A next key that was to
            sign later signs then. The server rotates by itself as the setting key_rotation
            says. When a key is stolen: spindle key withdraw.

            USAGE: spindle key rotate <options>

            \(configuration)

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "key withdraw",
            """
            OVERVIEW: Take a signing key out of service at once, because it is stolen.

            It is published no more, and another signs in its place from now on. A running
            server follows within a minute; others may keep the key set for five more.
            Until they read it anew they take what the stolen key signed, and may refuse
            what the new one signs. After that no application takes what the key signed
            before: people sign in there again. This server takes its own access tokens by
            its records, so JWTs that it really issued stay good here, at introspection
            too; a forged one never was.

            USAGE: spindle key withdraw [<options>] <id>

            ARGUMENTS:
              <id>                    The key's id, as key list shows it: the kid of what
                                      it signed.

            \(configuration)

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "key reseal",
            """
            OVERVIEW: Seal every stored secret anew under another master key. Stop every
            server first.

            On SQLite a running server is noticed. On PostgreSQL one that still runs with
            the old key is not ready from then on (/readyz): it cannot open what was sealed
            anew, and stores no secret. Start it again.

            USAGE: spindle key reseal [<options>] --new-key-file <new-key-file>

            \(configuration)

            OPTIONS:
              --new-key-file <new-key-file>
                                      The file of the new master key; made if it is not
                                      there.
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
    ]
}
