import HTTP
import HTTPSupport

/// Guards the pages that hold secrets. They answer at the issuer's own host only: a name of another site that leads to
/// this machine (DNS rebinding) reads none of them. No other origin may load them.
struct DevelopmentGate: Sendable {
    let site: Site

    func guarding(_ answer: @escaping Route.Answer) -> Route.Answer {
        { request, context in
            guard request.host == site.host else { return misdirected }
            var response = try await answer(request, context)
            response.headers[.crossOriginResourcePolicy] = "same-origin"
            return response
        }
    }

    /// RFC 9110 §15.5.20.
    private var misdirected: Response {
        Response(
            status: .misdirectedRequest,
            headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: .text("This page shows secrets and answers at the issuer's own host only: \(site.origin)/\n")
        ).because("another_host")
    }
}

extension Routes {
    /// A page for the developer.
    mutating func get(
        _ path: String, _ operation: Operation, by gate: DevelopmentGate, isSafe: Bool = true,
        use answer: @escaping Route.Answer
    ) {
        get(path, operation, isSafe: isSafe, use: gate.guarding(answer))
    }

    mutating func post(
        _ path: String, _ operation: Operation, by gate: DevelopmentGate, use answer: @escaping Route.Answer
    ) {
        post(path, operation, use: gate.guarding(answer))
    }
}
