import Authentication
import Directory
import Federation
import HTTP
import HTTPSupport
import Pages
import Values

/// Receives users who return from another issuer.
extension IdentityProviderEndpoint {
    /// A form from another site comes without the browser's cookies. The browser carries it on to `finish`, where its
    /// cookie decides. Nothing is stored that another browser could pick up.
    @Sendable func carryOn(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let id = try Self.issuer(context)
        let answer = form.pairs.filter { Self.answerParameters.contains($0.name) }.encoded
        guard form.state != nil, IdentityProviderAnswer(form.pairs) != nil, answer.utf8.count <= Self.longestAnswer
        else {
            return pages.brokenRequest(try await pages.visit(request))
        }
        return .sendBrowser(to: "\(IdentityProviderSignIn.path(of: id))?\(answer)", status: .seeOther)
    }

    private static let answerParameters: Set = ["state", "code", "error", "iss", "user"]
    /// In bytes: what fits into a request's target.
    private static let longestAnswer = 7000

    @Sendable func finish(_ request: Request, context: SpindleContext) async throws -> Response {
        guard let query = try? request.query, let state = query.state else {
            return pages.brokenRequest(try await pages.visit(request))
        }
        guard let issuer = try await pages.issuers.find(try Self.issuer(context)) else {
            return pages.message(.notFound, try await pages.visit(request), status: .notFound)
        }
        let spending = try await requests.spend(
            state, at: issuer.id, in: pages.forms.browser(request),
            by: Identifier<IdentityProviderRequest>.random(from: random).text)
        switch spending {
        case .refused(let reason):
            let visit = try await pages.visit(request)
            return pages.withoutCookie(
                request, visit,
                else: refuse(.gone(reason: reason), Attempt(issuer: issuer, continueTo: nil), visit, context))
        case .spent(let stored):
            let attempt = Attempt(
                issuer: issuer, continueTo: try await pages.destination(stored.continueTo, request),
                isAnew: stored.isAnew,
                isFromPage: stored.isFromPage, linkingSession: stored.linkingSession)
            let visit = try await pages.visit(request, to: attempt.continueTo)
            do {
                guard let answer = IdentityProviderAnswer(query.pairs) else {
                    throw IdentityProviderRefusal.mistrusted(reason: "neither code nor error")
                }
                let person = try await signIn.person(by: answer, to: stored, state, at: issuer)
                guard stored.linkingSession != nil else {
                    return try await enter(person, attempt, request, visit, context)
                }
                return try await connect(person, for: stored, attempt, request, visit, context)
            } catch let refusal as IdentityProviderRefusal {
                return refuse(refusal, attempt, visit, context)
            }
        }
    }

    private func enter(
        _ person: IdentityProviderUser, _ attempt: Attempt, _ request: Request, _ visit: PageContext,
        _ context: SpindleContext
    ) async throws -> Response {
        let newSession = try await newSessions.newSession(
            request, by: .issuer, at: visit, sawPage: attempt.isFromPage)
        switch try await entrance.enter(person, opening: newSession.opening, replacing: newSession.replaces?.id) {
        case .entered:
            return .sendBrowser(
                to: newSession.onward ?? "/login", status: .seeOther,
                cookies: try await newSessions.cookies(of: newSession))
        case .leaving(let user, let isConfined):
            // Keeping the account signs the user in to all of it: more than a merchant's own issuer, or a link that a
            // merchant made, may do.
            guard attempt.issuer.isTrustedByAll, !isConfined else {
                return pages.message(
                    .accountDeletionScheduled, visit, values: ["dueAt": user.dueAt.dayText], status: .forbidden)
            }
            let page = try await restoring.offer(
                user, by: .issuer, of: attempt.issuer.id.text, request, visit)
            guard let page else {
                throw IdentityProviderRefusal.gone(reason: "account_gone_or_changed")
            }
            return page
        case .unknown: return say(.upstreamUnknown, .forbidden, attempt, visit, context)
        case .disabled: return say(.upstreamDisabled, .forbidden, attempt, visit, context)
        case .addressTaken: return say(.upstreamTaken, .conflict, attempt, visit, context)
        case .removed: return say(.upstreamRemoved, .conflict, attempt, visit, context)
        case .closed: throw IdentityProviderRefusal.closed
        }
    }

    /// Links the issuer only in the browser session in which its user asked for it, and only while the cookie is the
    /// same: the user has not changed and has not signed in again.
    private func connect(
        _ person: IdentityProviderUser, for stored: IdentityProviderRequest, _ attempt: Attempt, _ request: Request,
        _ visit: PageContext,
        _ context: SpindleContext
    ) async throws -> Response {
        let session = try await newSessions.sessions.of(request, pages.site)
        guard let session, stored.linkingSession == .init(session), session.createdAt <= stored.createdAt,
            session.origin == .signIn
        else {
            throw IdentityProviderRefusal.gone(reason: "signed_out_meanwhile")
        }
        switch try await entrance.connect(person, in: session) {
        case .connected: return .sendBrowser(to: AccountEndpoint.path + "?done=connected", status: .seeOther)
        case .taken: return say(.upstreamNotConnected, .conflict, attempt, visit, context)
        case .closed: throw IdentityProviderRefusal.closed
        case .signedOut: throw IdentityProviderRefusal.gone(reason: "signed_out_meanwhile")
        }
    }
}

extension Form {
    /// `state`, if it occurs once and could be one of ours.
    fileprivate var state: IdentityProviderRequests.State? {
        let all = pairs.filter { $0.name == "state" }
        guard all.count == 1, let text = all.first?.value, (1...128).contains(text.utf8.count) else { return nil }
        return Secret(text)
    }
}
