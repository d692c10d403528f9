import HTTPTypes
public import Hummingbird

extension Router<SpindleContext> {
    /// Answers 405 and `Allow` where the path is known and the method is not (RFC 9110 §15.5.6). Call it last.
    ///
    /// HEAD is among them unless an endpoint offers it: a GET of ours may spend a code.
    public func refuseOtherMethods() {
        let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
        for routes in Dictionary(grouping: routes, by: \.path.description).values {
            let allowed = routes.map(\.method)
            let refusal = HTTPError(
                .methodNotAllowed, headers: [.allow: allowed.map(\.rawValue).joined(separator: ", ")])
            guard let path = routes.first?.path else { continue }
            for method in methods where !allowed.contains(method) {
                on(path, method: method) { _, _ -> Response in throw refusal }
            }
        }
    }
}
