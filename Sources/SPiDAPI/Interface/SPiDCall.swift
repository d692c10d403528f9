import Directory
import HTTP
import HTTPSupport
import OAuth
import SPiD
import Storage
import Values

/// One call of SPiD's API, after the checks that are the same for all of them.
struct SPiDCall: Sendable {
    /// Who calls.
    struct RequestingClient: Sendable {
        let token: AccessToken
        /// For whom: the client of `contextClientId`, or else of the token.
        let client: Client
        /// Whose token it is.
        let caller: Client
        /// Throws when the token has ended meanwhile. For the transaction that writes, where others were asked before it.
        let confirm: @Sendable (any Transaction) throws -> Void
    }

    let request: Request
    let context: SpindleContext
    let asker: RequestingClient?
    /// The parts of the path that are not fixed.
    let path: [String: String]
    /// What the query and the body say; a parameter without a value counts as left out.
    let parameters: [String: String]

    subscript(name: String) -> String? { parameters[name] }

    /// Who calls, where the route takes a token.
    var asking: RequestingClient {
        get throws(OAuthError) {
            guard let asker else { throw .noToken }
            return asker
        }
    }

    /// The person whose token it is, where the route takes a person's.
    var person: UserID {
        get throws(OAuthError) {
            guard let user = try asking.token.user else { throw .userTokenNeeded }
            return user
        }
    }

    /// Refuses clients of third parties: they could ask about everybody, and act on people who never met them.
    func requireFirstParty() throws {
        guard try asking.caller.firstParty else {
            throw SPiDRefusal(
                .forbidden, "Client is not authorized to access this API endpoint: it is not its merchant's own.",
                reason: "not_first_party")
        }
    }

    /// The parameter `name`, or 400.
    func require(_ name: String) throws(SPiDRefusal) -> String {
        guard let text = parameters[name] else { throw SPiDRefusal(.badRequest, "Required parameter \(name) missing") }
        return text
    }
}
