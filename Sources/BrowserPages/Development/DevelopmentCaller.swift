import Cryptography
import HTTP
import HTTPSupport
import JOSE
import JSON
import Pages
import Text
import Values

/// Calls this server as an app does, without a connection, and shows each request as a command.
struct DevelopmentCaller: Sendable {
    let site: Site
    let secrets: DevelopmentSecrets
    let clock: any WallClock
    /// The server without the pages for developers.
    let server: any RequestHandler

    struct Outcome: Sendable {
        let call: DevelopmentAnswerPage.Call
        /// The members of a success.
        let json: JSON?
    }

    /// Posts `form` to `path` as `client`.
    func post(_ path: String, _ form: [Form.Pair], as client: DevelopmentClient, from peer: String?) async -> Outcome {
        var form = form
        var headers: Fields = [.contentType: "application/x-www-form-urlencoded"]
        var options: [String] = []
        if client == .app {
            form.insert(("client_id", client.rawValue), at: 0)
        } else {
            let pair = "\(client.rawValue):\(secrets.secret(of: client.id).value)"
            headers[.authorization] = "Basic \(Base64.encode(Array(pair.utf8)))"
            options.append("-u \(pair)")
        }
        options += form.map { "-d \("\($0.name)=\($0.value.formValue)".shellWord)" }
        return await send(.post, path, headers, Array(form.encoded.utf8), options, from: peer)
    }

    func get(_ path: String, bearer token: String, from peer: String?) async -> Outcome {
        await send(
            .get, path, [.authorization: "Bearer \(token)"], [], ["-H 'Authorization: Bearer \(token)'"], from: peer)
    }

    private func send(
        _ method: Method, _ path: String, _ headers: Fields, _ body: [UInt8], _ options: [String], from peer: String?
    ) async -> Outcome {
        let response = await response(method, path, headers, body, from: peer)
        let json = response.text.flatMap { try? JSON(parsing: Array($0.utf8)) }
        let call = DevelopmentAnswerPage.Call(
            title: "\(method) \(path)",
            command: (["curl \(site.origin)\(path)"] + options).joined(separator: " \\\n  "),
            status: "\(response.status)", answer: json?.indented ?? response.text)
        return Outcome(call: call, json: response.status.code < 400 ? json : nil)
    }

    private func response(
        _ method: Method, _ path: String, _ headers: Fields, _ body: [UInt8], from peer: String?
    ) async -> Response {
        var headers = headers
        headers[.host] = site.host
        var request = Request(
            method: method, target: Target(path), headers: headers, body: .bytes(body), peer: peer)
        request.route = server.admit(request).route
        return await server.respond(to: request)
    }
}

extension DevelopmentCaller {
    /// `token` as the answer page shows it: decoded, and verified with the published keys, if it is a JWT.
    func token(_ title: String, _ token: String?, from peer: String?) async -> DevelopmentAnswerPage.Token? {
        guard let token else { return nil }
        guard let header = CompactJWS.header(of: token), let claims = CompactJWS.unverifiedClaims(of: token) else {
            return .init(title: title, value: token, decoded: nil)
        }
        var verdict = "Signature good: \(header["alg"]?.string ?? ""), by a key that this server publishes."
        var isGood = true
        do {
            let keys = await response(.get, "/oauth/jwks", [:], [], from: peer).text ?? ""
            _ = try await AssertionKeys(keySet: keys).verify(
                token, allowed: Set(SignatureAlgorithm.allCases.filter { !$0.isSymmetric }))
        } catch {
            verdict = "Signature not verified: \(error)."
            isGood = false
        }
        return .init(
            title: title, value: token,
            decoded: .init(
                header: header.indented, claims: claims.indented, expiry: expiry(claims), verdict: verdict,
                isGood: isGood))
    }

    private func expiry(_ claims: JSON) -> String? {
        guard let seconds = claims["exp"]?.integer, let end = Timestamp(seconds: seconds) else { return nil }
        let left = (end - clock.now).seconds
        return "\(left > 0 ? "Expires in \(left) seconds" : "Expired"), at \(end.iso8601)."
    }
}

extension String {
    /// The text as a value of a form, readable where a form allows it.
    fileprivate var formValue: String { isMade(of: "-_.~:/?=") ? self : PercentEncoding.encode(self) }

    /// The text as one word of a shell.
    fileprivate var shellWord: String {
        isMade(of: "-_.~:/=%") ? self : "'\(replacing("'", with: "'\\''"))'"
    }

    /// Whether it has letters, digits and `marks` only.
    private func isMade(of marks: String) -> Bool {
        utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || marks.utf8.contains(byte)
        }
    }
}

extension JSON {
    /// The value in lines, for a reader.
    var indented: String { lines("") }

    private func lines(_ margin: String) -> String {
        let inner = margin + "  "
        switch self {
        case .object(let members) where !members.isEmpty:
            let lines = members.map { "\(inner)\(JSON.string($0.name).text): \($0.value.lines(inner))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(margin)}"
        case .array(let values) where !values.isEmpty:
            return "[\n\(values.map { inner + $0.lines(inner) }.joined(separator: ",\n"))\n\(margin)]"
        default: return text
        }
    }
}
