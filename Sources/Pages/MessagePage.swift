/// Shows a single message. Every error that a user sees is one of these.
public struct MessagePage: PageContents {
    /// The message. Each has the texts `message.<topic>.title`, `.text` and, if the user can do something, `.hint`.
    public enum Topic: String, CaseIterable, Sendable {
        // A form, a link or a code
        case foreignForm, reachedByHTTP, cookiesNeeded, linkUnknown, linkGone, codeUnknown, codeGone, choiceGone,
            checkMail
        case tooManyAttempts, emailTaken, phoneTaken, accountExists
        // Another issuer
        case upstreamGone, upstreamDeclined, upstreamFailed, upstreamUnavailable, upstreamStale
        case upstreamUnknown, upstreamTaken, upstreamRemoved, upstreamDisabled, upstreamNotConnected
        // The user's account
        case anotherUser, accountDeletionScheduled, accountDeleted, accountRestored
        // An application's request
        case noClient, unknownClient, noRedirectURI, unregisteredRedirectURI, unregisteredCancelURI, brokenRequest
        case requestGone
        case sessionLinkEmbedded, sessionLinkUnknown, sessionLinkGone, leaving
        // This server
        case notFound, tryLater, somethingWrong, tooLarge
    }

    private let topic: Topic
    private let values: [String: String]
    let form: FormPostPage?
    let registration: FormPostPage?
    let detail: String?
    let reference: String?

    /// - Parameters: `values` are what the topic's texts use: `email` (checkMail, accountExists, emailTaken); `again`
    ///   (checkMail, codeUnknown, codeGone: the path where another can be requested); `dueAt`
    ///   (accountDeletionScheduled, in UTC as `2026-11-21 10:58`); `name` (of another issuer, or in leaving of the
    ///   application), with `again` and `signUp`, the paths to sign in another way or to sign up; and for any topic
    ///   `continueTo`, the path that a button leads to. `form` is what a button posts to an application, in place of
    ///   `continueTo`. `registration` is what a button posts to register the address of unregisteredRedirectURI, in
    ///   development mode only. `detail` is for an app's developer: the values as they arrived, an error's name.
    ///   `reference` is what to quote when asking for help: the request's id in the log.
    public init(
        topic: Topic, values: [String: String] = [:], form: FormPostPage? = nil, registration: FormPostPage? = nil,
        detail: String? = nil, reference: String? = nil
    ) {
        self.topic = topic
        self.values = values
        self.form = form
        self.registration = registration
        self.detail = detail
        self.reference = reference
    }

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = values
        for part in ["title", "text", "hint"] {
            let key = "message.\(topic).\(part)"
            words[part] = texts.has(key) ? texts[key] : nil
        }
        return words
    }

    /// Every text that `words` needs.
    static let keys = Topic.allCases.flatMap { ["message.\($0).title", "message.\($0).text"] }
}
