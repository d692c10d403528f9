/// Where the program of today and docs/model.md differ: each with the letter that is true today, and what is wrong with
/// it. The page says what is to be. A test fails as soon as one of these is no longer so.
struct ModelDifference: Sendable {
    let row: Int
    let cause: String
    let member: String
    let today: Fate
    let why: String

    static let all =
        [
            ModelDifference(
                row: 3, cause: "the user revokes a third party's app", member: "a web view for the third party",
                today: .lives,
                why: "Its user took all access from the app, and is still signed in where the app has its pages."),
            ModelDifference(
                row: 3, cause: "the user revokes a third party's app",
                member: "passing tokens in a web view for the third party", today: .lives,
                why: "They last no longer than their session, which is to end."),
        ]
        + [
            "a web view of that session's tokens", "passing tokens in a web view of that session's tokens",
            "a web view of that session's lasting tokens",
            "passing tokens in a web view of that session's lasting tokens",
            "the web view of the backend of that session's tokens",
            "passing tokens in the web view of the backend of that session's tokens",
        ].map { member in
            ModelDifference(
                row: 9, cause: "an issuer is unlinked", member: member, today: .ends,
                why: "The session where it is done goes on with all that came from it; after another address it does.")
        }
}
