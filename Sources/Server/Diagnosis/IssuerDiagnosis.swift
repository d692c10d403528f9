import Logging
import Outbound
import Values

/// Checks whether a server answers at the issuer's URL, as clients reach it: by name, and by https if it says so.
enum IssuerDiagnosis {
    static func finding(_ issuer: IssuerURL) async -> Finding {
        // The URL is the operator's own, so any network is allowed.
        let everywhere = ["0.0.0.0/0", "::/0"].compactMap { CIDR($0) }
        let outbound = Outbound(policy: OutboundPolicy(allowedPrivateRanges: everywhere), logger: .silent)
        let url = issuer.origin + "/healthz"
        do {
            let status = try await outbound.get(url).status
            return Finding("issuer", status == 200 ? .good : .bad, "\(url) answers \(status)")
        } catch {
            return Finding("issuer", .bad, "\(url): \(error)")
        }
    }
}
