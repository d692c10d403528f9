extension ExpectedHelp {
    static let client: [ExpectedHelp] = [
        ExpectedHelp(
            "client",
            """
            OVERVIEW: Clients: apps and backends that ask for tokens.

            USAGE: spindle client <subcommand>

            OPTIONS:
            \(builtIns)

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

            \(configuration)

            OPTIONS:
              --merchant <merchant>   The id of the merchant it belongs to; a client with
                                      scope admin belongs to none.
              --id <id>               An id that its programs know from another system: 3
                                      to 100 characters, no number, no UUID. By default a
                                      new one is made. The id of a deleted client is free
                                      after 366 days, or at once if it never had a token.
              --token-endpoint-auth-method <token-endpoint-auth-method>
                                      client_secret_basic, client_secret_post,
                                      client_secret_jwt, or none for an app that can keep
                                      no secret. It cannot change.
              --name <name>           Its name.
              --redirect-uri <redirect-uri>
                                      A redirect URI; may be repeated. The given ones
                                      replace those it has.
              --grant-type <grant-type>
                                      A grant type it may use; may be repeated. The given
                                      ones replace those it has.
              --scope <scope>         The scope tokens it may have, separated by spaces.
              --first-party/--no-first-party
                                      Whether it is the merchant's own: no page asks for
                                      consent. For other clients pages ask; grants without
                                      a page do not.
              --spid-compatible/--no-spid-compatible
                                      Whether it gets SPiD's answers. --no-spid-compatible
                                      deletes its settings for SPiD.
              --rotate-refresh-tokens/--no-rotate-refresh-tokens
                                      Whether it gets a new refresh token at each use. A
                                      client without a secret always does.
              --require-pkce/--no-require-pkce
                                      Whether its authorization requests need PKCE, or a
                                      nonce with openid.
              --access-token-lifetime <access-token-lifetime>
                                      Seconds that its access tokens live, 10 to 31536000;
                                      its own, and those that can be refreshed, live a day
                                      at most.
              --refresh-token-lifetime <refresh-token-lifetime>
                                      Seconds that its refresh tokens live, 60 to 31536000.
              --refresh-family-lifetime <refresh-family-lifetime>
                                      Seconds that the refresh tokens of one grant live
                                      together, 60 to 315360000, or while_used.
              --refresh-leeway <refresh-leeway>
                                      Seconds in which tabs of a browser app may refresh
                                      with the same token, 0 to 60; above 0 only for a
                                      client without a secret whose redirect URIs are all
                                      https.
              --web-origin <web-origin>
                                      An origin of its web pages, which may ask for the
                                      session and call this server; those of a first-party
                                      client may frame the sign-in. May be repeated. The
                                      given ones replace those it has. "" for none.
              --post-logout-redirect-uri <post-logout-redirect-uri>
                                      A URI that a logout may return to; may be repeated.
                                      The given ones replace those it has. "" for none.
              --callback-uri <callback-uri>
                                      The URL to call when a user changes, signs out or is
                                      deleted; "" for none.
              --require-verified-email/--no-require-verified-email
                                      Whether its users must have a verified address.
              --signed-responses/--no-signed-responses
                                      Whether SPiD's API signs its responses to the client.
              --tos-uri <tos-uri>     The URL of its terms; "" for none.
              --authorization-response-iss/--no-authorization-response-iss
                                      Whether authorization responses name the issuer
                                      (iss), which SPiD's SDKs do not expect.
              --exchange-front-channel-tokens/--no-exchange-front-channel-tokens
                                      Whether its tokens of the implicit grant buy codes.
              --public-exchange-codes-from <public-exchange-codes-from>
                                      A client whose tokens buy codes for this one, which
                                      has no secret; may be repeated. The given ones
                                      replace those it has. "" for none.
              --codes-redeemed-twice/--no-codes-redeemed-twice
                                      Whether it may redeem a code twice: the second time
                                      ends the first tokens.
              --required-field <required-field>
                                      A field that its apps should ask users for, such as
                                      name.given_name; may be repeated. The given ones
                                      replace those it has. "" for none.
              --terms-summary <terms-summary>
                                      A sentence about its newest terms, for its apps; may
                                      be repeated. The given ones replace those it has. ""
                                      for none.
              --session-host <session-host>
                                      A host of its site that leads here, for the session
                                      service; may be repeated. The given ones replace
                                      those it has. "" for none.
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "client list",
            """
            OVERVIEW: List clients.

            USAGE: spindle client list <options>

            \(configuration)

            OPTIONS:
              --merchant <merchant>   Of this merchant only.
              --after <cursor>        Continue after this cursor of the previous page.
              --count <number>        How many to print at most, 1 to 1000. (default: 100)
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "client show",
            """
            OVERVIEW: Show a client.

            USAGE: spindle client show [<options>] <id>

            ARGUMENTS:
              <id>

            \(configuration)

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "client change",
            """
            OVERVIEW: Change the given members of a client.

            USAGE: spindle client change [<options>] <id>

            ARGUMENTS:
              <id>

            \(configuration)

            OPTIONS:
              --name <name>           Its name.
              --redirect-uri <redirect-uri>
                                      A redirect URI; may be repeated. The given ones
                                      replace those it has.
              --grant-type <grant-type>
                                      A grant type it may use; may be repeated. The given
                                      ones replace those it has.
              --scope <scope>         The scope tokens it may have, separated by spaces.
              --first-party/--no-first-party
                                      Whether it is the merchant's own: no page asks for
                                      consent. For other clients pages ask; grants without
                                      a page do not.
              --spid-compatible/--no-spid-compatible
                                      Whether it gets SPiD's answers. --no-spid-compatible
                                      deletes its settings for SPiD.
              --rotate-refresh-tokens/--no-rotate-refresh-tokens
                                      Whether it gets a new refresh token at each use. A
                                      client without a secret always does.
              --require-pkce/--no-require-pkce
                                      Whether its authorization requests need PKCE, or a
                                      nonce with openid.
              --access-token-lifetime <access-token-lifetime>
                                      Seconds that its access tokens live, 10 to 31536000;
                                      its own, and those that can be refreshed, live a day
                                      at most.
              --refresh-token-lifetime <refresh-token-lifetime>
                                      Seconds that its refresh tokens live, 60 to 31536000.
              --refresh-family-lifetime <refresh-family-lifetime>
                                      Seconds that the refresh tokens of one grant live
                                      together, 60 to 315360000, or while_used.
              --refresh-leeway <refresh-leeway>
                                      Seconds in which tabs of a browser app may refresh
                                      with the same token, 0 to 60; above 0 only for a
                                      client without a secret whose redirect URIs are all
                                      https.
              --web-origin <web-origin>
                                      An origin of its web pages, which may ask for the
                                      session and call this server; those of a first-party
                                      client may frame the sign-in. May be repeated. The
                                      given ones replace those it has. "" for none.
              --post-logout-redirect-uri <post-logout-redirect-uri>
                                      A URI that a logout may return to; may be repeated.
                                      The given ones replace those it has. "" for none.
              --callback-uri <callback-uri>
                                      The URL to call when a user changes, signs out or is
                                      deleted; "" for none.
              --require-verified-email/--no-require-verified-email
                                      Whether its users must have a verified address.
              --signed-responses/--no-signed-responses
                                      Whether SPiD's API signs its responses to the client.
              --tos-uri <tos-uri>     The URL of its terms; "" for none.
              --authorization-response-iss/--no-authorization-response-iss
                                      Whether authorization responses name the issuer
                                      (iss), which SPiD's SDKs do not expect.
              --exchange-front-channel-tokens/--no-exchange-front-channel-tokens
                                      Whether its tokens of the implicit grant buy codes.
              --public-exchange-codes-from <public-exchange-codes-from>
                                      A client whose tokens buy codes for this one, which
                                      has no secret; may be repeated. The given ones
                                      replace those it has. "" for none.
              --codes-redeemed-twice/--no-codes-redeemed-twice
                                      Whether it may redeem a code twice: the second time
                                      ends the first tokens.
              --required-field <required-field>
                                      A field that its apps should ask users for, such as
                                      name.given_name; may be repeated. The given ones
                                      replace those it has. "" for none.
              --terms-summary <terms-summary>
                                      A sentence about its newest terms, for its apps; may
                                      be repeated. The given ones replace those it has. ""
                                      for none.
              --session-host <session-host>
                                      A host of its site that leads here, for the session
                                      service; may be repeated. The given ones replace
                                      those it has. "" for none.
              --disabled/--no-disabled
                                      Disable it, or enable it again.
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "client delete",
            """
            OVERVIEW: Delete a client and all its data.

            USAGE: spindle client delete [<options>] <id>

            ARGUMENTS:
              <id>

            \(configuration)

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
        ExpectedHelp(
            "client add-secret",
            """
            OVERVIEW: Add a second live secret, shown once. End the other one when it is no
            longer used.

            USAGE: spindle client add-secret [<options>] <id>

            ARGUMENTS:
              <id>

            \(configuration)

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

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

            \(configuration)

            OPTIONS:
              --json                  Print JSON, as the administration endpoints answer it.
            \(builtIns)

            """),
    ]
}
