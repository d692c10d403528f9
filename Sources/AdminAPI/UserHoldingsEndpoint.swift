import Administration
import Authentication
import Directory
import HTTP
public import HTTPSupport
import JSON
import OAuth
import Text
import Values

/// `/admin/v1/users/{id}/…`: what a user has here. A merchant's administrator sees and ends what is of its own clients.
public struct UserHoldingsEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let reach: UserReach
    private let holdings: UserHoldings

    init(gate: AdministratorGate, reach: UserReach, holdings: UserHoldings) {
        self.gate = gate
        self.reach = reach
        self.holdings = holdings
    }

    public func add(to router: inout Routes) {
        for part in UserHoldings.Part.allCases {
            let operations = UserPartOperations.of(part)
            let path = "users/{id}/\(part.rawValue)"
            router.get(path, operations.list) { try await list(part, $0, $1) }
            router.delete(path, operations.endAll) { try await end(part, $0, $1) }
            router.delete("\(path)/{part}", operations.endOne) { try await end(part, one: true, $0, $1) }
        }
        router.get("users/{id}/logins", .listLogins, use: listLogins)
        router.post("users/{id}/unlock", .unlockUser, use: gate.once(unlock))
    }

    @Sendable private func list(
        _ part: UserHoldings.Part, _ request: Request, _ context: SpindleContext
    ) async throws -> Response {
        let (user, administrator) = try await reach.user(request, context, gate)
        let page = try ListPage(request, context)
        let items = try await holdings.list(part, of: user, by: administrator)
        return page.response(of: items, json: \.json) { NamePlace.ofText($0.id) }
    }

    @Sendable private func end(
        _ part: UserHoldings.Part, one: Bool = false, _ request: Request, _ context: SpindleContext
    ) async throws -> Response {
        let (user, administrator) = try await reach.user(request, context, gate)
        var id: String?
        if one {
            // A subject of an issuer may have any letter.
            guard let bytes = PercentEncoding.decode(Array(try context.parameters.require("part").utf8)),
                let text = String(validating: bytes, as: UTF8.self), !text.contains("\0")
            else { throw Problem.notFound(part.word) }
            id = text
        }
        let sought = id
        let count = try await limited(administrator) {
            try await holdings.end(part, sought, of: user, by: administrator)
        }
        guard count > 0 || !one else { throw Problem.notFound(part.word) }
        return Response(status: .noContent)
    }

    @Sendable private func listLogins(_ request: Request, context: SpindleContext) async throws -> Response {
        let (user, administrator) = try await reach.user(request, context, gate)
        let page = try ListPage(request, context)
        let place = try page.place(LoginPlace.init)
        let items = try await holdings.logins(of: user, by: administrator, after: place, count: page.count + 1)
        return page.response(items, json: \.json) { $0.place.text }
    }

    @Sendable private func unlock(_ request: Request, context: SpindleContext) async throws -> Response {
        let (user, administrator) = try await reach.user(request, context, gate)
        let count = try await limited(administrator) { try await holdings.unlock(user, by: administrator) }
        return .json(.members(["lifted": .integer(Int64(count))]))
    }

    /// What `change` does, in the turn of `administrator`. Support does it a few times an hour.
    private func limited(_ administrator: Administrator, _ change: () async throws -> Int) async throws -> Int {
        do {
            return try await gate.inTurn(of: administrator, change)
        } catch PasswordSignIn.Refusal.throttled(let wait, _, _) {
            throw OAuthError.tooMuchSupport(wait)
        }
    }
}

/// Finds the user of a path, if the administrator may see them.
struct UserReach: Sendable {
    let administration: UserAdministration

    func user(
        _ request: Request, _ context: SpindleContext, _ gate: AdministratorGate
    ) async throws -> (UserID, Administrator) {
        let administrator = try await gate.administrator(request, context)
        guard let id = UserID(try context.parameters.require("id")),
            try await administration.reaches(id, by: administrator)
        else { throw Problem.notFound("user") }
        return (id, administrator)
    }
}

extension UserHoldings.Part {
    /// What one of them is.
    var word: String {
        switch self {
        case .sessions: "session"
        case .tokens: "token family"
        case .consents: "consent"
        case .identities: "identity"
        case .throttles: "throttle"
        case .mails: "mail"
        }
    }
}
