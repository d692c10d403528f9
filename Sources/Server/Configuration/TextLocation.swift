public import Delivery
public import Logging
import Outbound
import Values

/// Where text messages go: a folder, or the operator's gateway.
public enum TextLocation: Sendable, CustomStringConvertible {
    case folder(path: String)
    /// Its URL may contain a key in its query.
    case gateway(url: String, secret: String)

    /// The folder, or the gateway's host.
    public var description: String {
        switch self {
        case .folder(let path): "the folder \(path)"
        case .gateway(let url, _):
            String(url.prefix { $0 != "?" }.split(separator: "/", maxSplits: 2).dropFirst().first ?? "the gateway")
        }
    }

    /// What sends text messages there.
    public func sender(_ logger: Logger) -> any TextSender {
        switch self {
        case .folder(let path): return TextFolder(path: path)
        case .gateway(let url, let secret):
            let outbound = Outbound(policy: .toOperators(), logger: logger)
            return TextGateway(url: url, secret: secret, outbound: outbound, clock: SystemClock())
        }
    }
}

extension ConfigurationReading {
    /// Where text messages go; nil when there are none, or it is faulty.
    mutating func texts(_ isWebAddress: (String) -> Bool) -> TextLocation? {
        let secret = value(.smsSecret, "16 to 200 bytes, which the gateway has too") { text in
            (16...200).contains(text.utf8.count) ? text : nil
        }
        let location = value(.sms, "file: and a folder, or an https URL") { text -> TextLocation? in
            if text.hasPrefix("file:") {
                guard case .folder(let path) = MailLocation(text) else { return nil }
                return .folder(path: path)
            }
            return isWebAddress(text) ? .gateway(url: text, secret: secret ?? "") : nil
        }
        if case .gateway = location, secret == nil, place(of: .smsSecret) == nil {
            refuse(.smsSecret, "given: it signs what the gateway at sms gets")
        }
        return location
    }
}
