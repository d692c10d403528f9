public import Values

/// One request and its limits.
public struct HTTPClientRequest: Sendable {
    /// Its host appears in `Host`, in TLS and in the check of the certificate.
    public let url: TransferURL
    /// The address to connect to, checked by the caller: libcurl looks up nothing.
    public let address: IPAddress
    /// A token (RFC 9110 §9.1).
    public let method: String
    /// Sent in this order. Only `Host` and `Content-Length` are added.
    public let fields: [(name: String, value: String)]
    /// Sent whole, with its length; ignored for HEAD.
    public let body: [UInt8]
    public let limits: HTTPClientLimits

    public init(
        _ method: String, _ url: TransferURL, at address: IPAddress, fields: [(name: String, value: String)] = [],
        body: [UInt8] = [], limits: HTTPClientLimits
    ) {
        self.method = method
        self.url = url
        self.address = address
        self.fields = fields
        self.body = body
        self.limits = limits
    }

    /// Whether method and fields are free of characters that would end them early (RFC 9110 §5.1, §5.5, §9.1).
    var isAcceptable: Bool {
        Self.isToken(method) && (1...65535).contains(url.port)
            && fields.allSatisfy { name, value in
                Self.isToken(name) && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            }
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }
}
