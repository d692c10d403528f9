import HTTP

/// Why a request is refused before the handler sees it. It is answered at once, and the connection is closed.
struct Refusal: Error, Equatable {
    let status: Status
    /// For the log.
    let rule: String

    private init(_ status: Status, _ rule: String) {
        self.status = status
        self.rule = rule
    }

    static func badRequest(_ rule: String) -> Refusal { Refusal(.badRequest, rule) }
    static let targetTooLong = Refusal(.uriTooLong, "target too long")
    static let headerTooLarge = Refusal(.requestHeaderFieldsTooLarge, "header too large")
    static let tooManyFields = Refusal(.requestHeaderFieldsTooLarge, "too many fields")
    static let unknownExpectation = Refusal(.expectationFailed, "unknown expectation")
    static let unknownTransferCoding = Refusal(.notImplemented, "unknown transfer coding")
    static let methodNotImplemented = Refusal(.notImplemented, "method not implemented")
    static let unknownVersion = Refusal(.httpVersionNotSupported, "version not supported")
    static let timedOut = Refusal(.requestTimeout, "header not received in time")
}
