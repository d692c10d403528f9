import Directory
import JSON
public import Values

/// What the user of one session has answered to an authorization request.
public struct InteractionAnswers: Sendable, Equatable {
    /// Whether the session was opened for this very request: what `prompt=login` asks for.
    public var isSignedIn = false
    /// When the user last answered a page about this request.
    var seenAt: Timestamp?
    /// The scope that the user allowed, if they were asked.
    var allowed: Scope?
    /// A developer's trial settings for it.
    var trial: TokenTrial?

    public static let none = InteractionAnswers()

    /// Whether the user of this session has answered any page about this request: then they have been chosen for it.
    var hasAnswered: Bool { seenAt != nil }

    /// Whether the user, after signing out of this client alone, wants to be signed in to it again.
    public var isBack: Bool { hasAnswered || isSignedIn }

    /// How long an answer on a page proves that the user is present.
    public static let longestPresence: Duration = .minutes(5)

    /// Whether the user has just answered a page about this request. An app must not be able to claim that: it could
    /// then get a response from an open session with no user present.
    public func isPresent(at now: Timestamp) -> Bool {
        seenAt.map { now < $0 + Self.longestPresence } ?? false
    }

    /// The answers before the user was asked for consent.
    public var withoutConsent: InteractionAnswers {
        var answers = self
        answers.allowed = nil
        return answers
    }
}

extension InteractionAnswers {
    /// The text that is stored with the interaction.
    var text: String {
        JSON.members([
            "signed_in": isSignedIn ? true : nil, "seen_at": seenAt.map { .integer($0.milliseconds) },
            "allowed": allowed.map { .string($0.description) }, "trial": trial.map { .string($0.text) },
        ]).text
    }

    /// Text that cannot be read is no answer: the user is asked again.
    init(stored text: String) {
        let json = (try? JSON(stored: text)) ?? .object([])
        isSignedIn = json["signed_in"]?.bool ?? false
        seenAt = json["seen_at"]?.integer.map { Timestamp(milliseconds: $0) }
        allowed = json["allowed"]?.string.flatMap { Scope(parsing: $0) }
        trial = json["trial"]?.string.flatMap(TokenTrial.init(stored:))
    }
}

extension AuthorizationRequest {
    /// The same request, in which a signed-in user confirms who they are first, as on SPiD's own pages. A `prompt` of
    /// the client takes precedence.
    public func asking() -> AuthorizationRequest {
        guard returnAddress.client.may(.askAsSPiD), prompt.isEmpty else { return self }
        var request = self
        request.prompt = [.selectAccount]
        return request
    }

    /// The request of `interaction` after `answers`: a prompt that a completed step has answered is removed.
    public func after(_ answers: InteractionAnswers, of interaction: Interaction?) -> AuthorizationRequest {
        var request = trying(answers.trial ?? authentication.trial)
        if interaction?.isByAnotherUser ?? false {
            // An `id_token_hint` stays: no other user may get a response (Core §3.1.2.2).
            request.loginHint = nil
            request.prompt.insert(.selectAccount)
        }
        if answers.hasAnswered { request.prompt.remove(.selectAccount) }
        if answers.isSignedIn {
            request.prompt.subtract(Prompt.signingIn)
            request.wantsMailedCode = false
            // Returning takes a while itself, and `max_age` must not ask again because of that.
            request.maxAge = maxAge.map { max($0, .minutes(1)) }
        }
        if interaction?.asksConsent ?? false {
            request.prompt.insert(.consent)
        } else if let allowed = answers.allowed {
            request.prompt.remove(.consent)
            request.scope = scope.intersection(allowed)
            request.authentication.claims = authentication.claims?.without(wanted.subtracting(allowed))
        }
        return request
    }
}
