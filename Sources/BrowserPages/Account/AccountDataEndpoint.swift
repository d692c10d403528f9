public import Authentication
import Directory
import HTTP
public import HTTPSupport
import JSON

/// `GET /account/data`: everything stored about a user, for that user.
public struct AccountDataEndpoint: Endpoint {
    private let gate: UserAccess
    private let data: PersonalData

    public init(gate: UserAccess, data: PersonalData) {
        self.gate = gate
        self.data = data
    }

    public func add(to router: inout Routes) {
        router.get("/account/data", .getOwnData, use: download)
    }

    @Sendable private func download(_ request: Request, context: SpindleContext) async throws -> Response {
        let entry: UserAccess.Entry
        switch try await gate.show(request) {
        case .refuse(let response): return response
        case .enter(let found): entry = found
        }
        // Back to the page, not to the download: a browser that is sent to a download keeps showing the sign-in page.
        guard gate.isRecent(entry.session) else { return gate.confirmFirst(for: .confirmed) }
        guard let document = try await data.document(of: entry.session.user) else { throw HTTPRefusal(.notFound) }
        var response = Response.json(bytes: document)
        response.headers[.contentDisposition] = "attachment; filename=\"spindle-\(entry.session.user).json\""
        return response
    }
}
