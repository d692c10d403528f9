public import Directory
public import Values

/// What a user has done for an authorization request.
public struct InteractionProgress: Sendable, Equatable {
    /// The session it was done in: the fingerprint of its cookie, which the next sign-in replaces.
    public let session: Fingerprint<Session>?
    /// Whether that session was opened for this very request: what `prompt=login` asks for.
    public let isSignedIn: Bool
    /// When the user last answered a page about this request.
    let seenAt: Timestamp?
    /// The scope that the user allowed, if they were asked.
    let allowed: Scope?
    /// A developer's trial settings for it.
    let trial: TokenTrial?
    /// Whether the user said that they are not the hinted user.
    let isByAnotherUser: Bool
    /// Whether consent must be asked for in any case, because the user who answered is not the user who was asked.
    let asksConsent: Bool

    public static let none = InteractionProgress()

    init(
        session: Fingerprint<Session>? = nil, isSignedIn: Bool = false, seenAt: Timestamp? = nil, allowed: Scope? = nil,
        trial: TokenTrial? = nil, isByAnotherUser: Bool = false, asksConsent: Bool = false
    ) {
        self.session = session
        self.isSignedIn = isSignedIn
        self.seenAt = seenAt
        self.allowed = allowed
        self.trial = trial
        self.isByAnotherUser = isByAnotherUser
        self.asksConsent = asksConsent
    }

    /// The part that counts in `session`. Answers of another user, or from before the user's last sign-in, do not.
    public func counted(in session: Fingerprint<Session>?) -> InteractionProgress {
        guard let session, session == self.session else {
            return InteractionProgress(isByAnotherUser: isByAnotherUser, asksConsent: asksConsent)
        }
        return self
    }

    /// Whether the progress must be reset for another user.
    var mayPassOn: Bool { !isByAnotherUser || session != nil }

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

    /// The progress before the user was asked for consent.
    public var withoutConsent: InteractionProgress {
        InteractionProgress(
            session: session, isSignedIn: isSignedIn, seenAt: seenAt, trial: trial,
            isByAnotherUser: isByAnotherUser, asksConsent: asksConsent)
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

    /// The request after `progress`: a prompt that a completed step has answered is removed.
    public func after(_ progress: InteractionProgress) -> AuthorizationRequest {
        var request = trying(progress.trial ?? authentication.trial)
        if progress.isByAnotherUser {
            // An `id_token_hint` stays: no other user may get a response (Core §3.1.2.2).
            request.loginHint = nil
            request.prompt.insert(.selectAccount)
        }
        if progress.hasAnswered { request.prompt.remove(.selectAccount) }
        if progress.isSignedIn {
            request.prompt.subtract(Prompt.signingIn)
            request.wantsMailedCode = false
            // Returning takes a while itself, and `max_age` must not ask again because of that.
            request.maxAge = maxAge.map { max($0, .minutes(1)) }
        }
        if progress.asksConsent { request.prompt.insert(.consent) }
        if let allowed = progress.allowed {
            request.prompt.remove(.consent)
            request.scope = scope.intersection(allowed)
            request.authentication.claims = authentication.claims?.without(wanted.subtracting(allowed))
        }
        return request
    }
}
