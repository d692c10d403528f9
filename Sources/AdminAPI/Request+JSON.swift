import HTTP
import HTTPSupport
import JSON
import OAuth

extension Request {
    /// The body as a JSON object.
    func jsonObject() throws -> JSON {
        let type = headers[.contentType]?.split(separator: ";").first?.lowercased()
        guard type == "application/json" else {
            throw Problem(status: .unsupportedMediaType, detail: "The content type must be application/json.")
        }
        let bytes = try Form.bytes(of: self)
        guard let json = try JSON.body(bytes) else { throw JSONFault("", "a JSON object") }
        return json
    }
}
