/// The last requests of a server in development mode.
public struct DevelopmentRequestsPage: PageContents {
    public struct Request: Sendable {
        let time: String
        let method: String
        let path: String
        let status: String
        let reason: String?
        let detail: String?
        let fields: [HiddenField]
        let answer: String?

        /// - Parameters: `fields` are the request's parameters. `answer` is where it leads, or what it says.
        public init(
            time: String, method: String, path: String, status: String, reason: String?, detail: String?,
            fields: [HiddenField], answer: String?
        ) {
            self.time = time
            self.method = method
            self.path = path
            self.status = status
            self.reason = reason
            self.detail = detail
            self.fields = fields
            self.answer = answer
        }
    }

    let requests: [Request]

    public init(requests: [Request]) { self.requests = requests }

    func words(_ texts: Texts) -> [String: Any] { ["hasRequests": !requests.isEmpty] }
}
