import Logging
import Outbound
import Values

/// Whether somebody who knows the issuer reaches a server there, as a client would: by name, and by https if it says so.
enum IssuerDiagnosis {
    static func finding(_ issuer: IssuerURL) async -> Finding {
        // It is the operator's own address, on whatever network it is.
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
