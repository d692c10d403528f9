import Logging
import Outbound

/// Checks whether a server answers at the issuer's URL as clients use it: by its name, and by https if the URL says so.
enum IssuerDiagnosis {
    static func finding(_ issuer: IssuerURL) async -> Finding {
        let outbound = Outbound(policy: .toOperators(), logger: .silent)
        let url = issuer.origin + "/healthz"
        do {
            let status = try await outbound.get(url).status
            return Finding("issuer", status == 200 ? .good : .bad, "\(url) answers \(status)")
        } catch {
            return Finding("issuer", .bad, "\(url): \(error)")
        }
    }
}
