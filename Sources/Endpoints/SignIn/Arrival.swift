public import Cryptography
import HTTPTypes
import Hummingbird
public import Identity
import Values

/// A browser in which somebody is about to be signed in: the session that will be opened, and the cookies for it.
struct Arrival: Sendable {
    let opening: Session.Opening
    /// The session that the browser has, which gives way.
    let replaces: Session?
    let cookies: [String]
}

/// Prepares sessions for browsers.
public struct Arrivals: Sendable {
    let sessions: Sessions
    let site: Site
    private let address: ClientAddress
    private let random: any RandomSource

    public init(sessions: Sessions, site: Site, address: ClientAddress, random: any RandomSource) {
        self.sessions = sessions
        self.site = site
        self.address = address
        self.random = random
    }

    func arrival(
        _ request: Request, _ context: SpindleContext, by method: Session.Method, isRemembered: Bool = false
    ) async throws -> Arrival {
        let secret = Secret<Session>.random(from: random)
        let known = device(request)
        let device = known ?? Secret<Device>.random(from: random)
        let opening = Session.Opening(
            id: .random(from: random), secret: secret, device: device,
            userAgent: request.headers[.userAgent] ?? "", address: address(request, context), method: method,
            isRemembered: isRemembered)
        return Arrival(
            opening: opening, replaces: try await sessions.of(request, site),
            cookies: [
                site.sessionCookie(secret, isRemembered: isRemembered), known == nil ? site.deviceCookie(device) : nil,
            ].compactMap { $0 })
    }

    func device(_ request: Request) -> Secret<Device>? { request.cookie(site.deviceCookie).map { Secret($0) } }

    func address(_ request: Request, _ context: SpindleContext) -> String { address.of(request, context) }
}
