import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An answer other than 2xx, with the name that OAuth gave the error.
struct Refusal: Error {
    let status: Int
    let error: String?
}

extension URLRequest {
    /// A GET, or a POST when there is a form.
    init(_ url: URL, form: [String: String]? = nil, bearer token: String? = nil) {
        self.init(url: url, timeoutInterval: 20)
        if let token { setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        guard let form else { return }
        httpMethod = "POST"
        setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        httpBody = Data(form.map { "\($0.key.formEncoded)=\($0.value.formEncoded)" }.joined(separator: "&").utf8)
    }

    /// Sends it, and returns the body of a good answer.
    func data() async throws -> Data {
        let (body, response) = try await URLSession.shared.data(for: self)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200..<300).contains(status) else {
            struct Body: Decodable { let error: String }
            throw Refusal(status: status, error: try? JSONDecoder().decode(Body.self, from: body).error)
        }
        return body
    }

    func json<Answer: Decodable>(_: Answer.Type) async throws -> Answer {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Answer.self, from: try await data())
    }
}

extension String {
    /// Encoded for a form. `URLComponents` leaves `+` as it is, which a server reads as a space: the address
    /// `ada+news@example.com` would become another user's.
    fileprivate var formEncoded: String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
