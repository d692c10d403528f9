// Signs a user in from a program on a desktop: the system's browser, a loopback address and PKCE (RFC 8252, RFC 7636).

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if canImport(CryptoKit)
    import CryptoKit
#endif

let issuer = "http://127.0.0.1:8080"
let clientID = "example-native"

struct Server: Decodable {
    let authorizationEndpoint, tokenEndpoint, userinfoEndpoint: URL
}

struct Tokens: Decodable {
    let accessToken, refreshToken: String
    let expiresIn: Int
}

struct User: Decodable {
    let sub, name: String
}

struct Refusal: Decodable {
    let error: String
    let errorDescription: String?
}

struct Failure: Error {
    let reason: String
}

do {
    try await signIn()
} catch {
    let reason = (error as? Failure)?.reason ?? error.localizedDescription
    FileHandle.standardError.write(Data("\(reason)\n".utf8))
    exit(1)
}

func signIn() async throws {
    let server: Server = try await json("\(issuer)/.well-known/openid-configuration")
    let loopback = try Loopback()
    let redirectURI = "http://127.0.0.1:\(loopback.port)/callback"
    let state = randomText()
    let verifier = randomText()

    openBrowser(
        at: "\(server.authorizationEndpoint)?"
            + form([
                "response_type": "code", "client_id": clientID, "redirect_uri": redirectURI, "state": state,
                "scope": "openid profile email offline_access",
                "code_challenge": try challenge(for: verifier), "code_challenge_method": "S256",
            ]))
    let answer = try loopback.answer()

    guard answer["state"] == state, answer["iss"] == issuer else {
        throw Failure(reason: "This is not the answer to the program's request.")
    }
    guard let code = answer["code"] else {
        throw Failure(reason: answer["error_description"] ?? answer["error"] ?? "The answer has no code.")
    }
    var tokens: Tokens = try await json(
        server.tokenEndpoint.absoluteString,
        form: [
            "grant_type": "authorization_code", "client_id": clientID, "redirect_uri": redirectURI, "code": code,
            "code_verifier": verifier,
        ])
    let user: User = try await json(server.userinfoEndpoint.absoluteString, bearer: tokens.accessToken)
    print("Hello, \(user.name). The token lives \(tokens.expiresIn) seconds.")

    // Keep the refresh token in the keychain. Each use brings the next one.
    tokens = try await json(
        server.tokenEndpoint.absoluteString,
        form: ["grant_type": "refresh_token", "client_id": clientID, "refresh_token": tokens.refreshToken])
    print("Renewed.")
}

/// The JSON of a GET, or of a POST where there is a form.
func json<Answer: Decodable>(
    _ address: String, form fields: [String: String]? = nil, bearer token: String? = nil
) async throws -> Answer {
    guard let url = URL(string: address) else { throw Failure(reason: "\(address) is no URL.") }
    var request = URLRequest(url: url, timeoutInterval: 20)
    if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    if let fields {
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(form(fields).utf8)
    }
    let (body, response) = try await URLSession.shared.data(for: request)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else {
        let refusal = try? decoder.decode(Refusal.self, from: body)
        throw Failure(reason: refusal?.errorDescription ?? refusal?.error ?? "\(address) answered \(status).")
    }
    return try decoder.decode(Answer.self, from: body)
}

func form(_ fields: [String: String]) -> String {
    let unreserved = CharacterSet(charactersIn: "-._~").union(.alphanumerics)
    return fields.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")" }
        .joined(separator: "&")
}

func randomText() -> String {
    base64URL(Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }))
}

func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        .replacingOccurrences(of: "=", with: "")
}

func challenge(for verifier: String) throws -> String {
    #if canImport(CryptoKit)
        return base64URL(Data(SHA256.hash(data: Data(verifier.utf8))))
    #else
        // Foundation has no SHA-256 on Linux.
        let (openssl, input, output) = (Process(), Pipe(), Pipe())
        openssl.executableURL = URL(filePath: "/usr/bin/openssl")
        openssl.arguments = ["dgst", "-sha256", "-binary"]
        (openssl.standardInput, openssl.standardOutput) = (input, output)
        guard (try? openssl.run()) != nil else { throw Failure(reason: "The program needs /usr/bin/openssl.") }
        try input.fileHandleForWriting.write(contentsOf: Data(verifier.utf8))
        try input.fileHandleForWriting.close()
        return base64URL(try output.fileHandleForReading.readToEnd() ?? Data())
    #endif
}

func openBrowser(at address: String) {
    print("Sign in in the browser. If none opens, open this address:\n\(address)")
    fflush(nil)
    let browser = Process()
    browser.executableURL = URL(filePath: "/usr/bin/env")
    #if os(macOS)
        browser.arguments = ["open", address]
    #else
        browser.arguments = ["xdg-open", address]
    #endif
    try? browser.run()
}

/// Listens at a free port of this machine alone, until the browser comes back.
struct Loopback {
    private let listener: Int32
    let port: UInt16

    init() throws {
        #if canImport(Darwin)
            let opened = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let opened = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listens = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                bind(opened, place, size) == 0 && listen(opened, 8) == 0 && getsockname(opened, place, &size) == 0
            }
        }
        guard listens else { throw Failure(reason: "No port is free.") }
        listener = opened
        port = UInt16(bigEndian: address.sin_port)
    }

    /// The parameters that the browser brings. It may ask for other things first, or open a connection and ask nothing.
    func answer() throws -> [String: String] {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { throw Failure(reason: "The port was closed.") }
            defer { close(connection) }
            var patience = timeval(tv_sec: 2, tv_usec: 0)
            setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            var bytes = [UInt8](repeating: 0, count: 16_384)
            let count = recv(connection, &bytes, bytes.count, 0)
            let request = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            guard let path = request.split(separator: " ").dropFirst().first, path.hasPrefix("/callback?") else {
                continue
            }
            let items = URLComponents(string: String(path))?.queryItems ?? []
            let answer = Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
            let text = "\(answer["code"] == nil ? "Not" : "You are") signed in. Go back to the program."
            let page = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n\(text)"
            _ = send(connection, page, page.utf8.count, 0)
            return answer
        }
    }
}
