import HTTP
public import HTTPSupport
import OAuth
import Pages

/// `/development/answer`: shows developers without an app what it would be told. Exists only in development mode.
public struct DevelopmentAnswerEndpoint: Endpoint {
    private let pages: PageRenderer

    public init(pages: PageRenderer) { self.pages = pages }

    public func add(to router: inout Routes) {
        router.get("/development/answer", isSafe: true) { request, _ in try await show(request.query, request) }
        router.post("/development/answer") { request, _ in try await show(Form.read(request), request) }
    }

    private func show(_ form: Form, _ request: Request) async throws -> Response {
        let visit = try await pages.visit(request)
        let page = DevelopmentAnswerPage(
            fields: form.pairs.map { HiddenField(name: $0.name, value: $0.value) },
            command: form["code"].flatMap { $0.isShellWord ? $0 : nil }
                .map { DevelopmentClient.command(for: $0, at: pages.site) },
            again: DevelopmentClient.request(at: pages.site))
        return pages.page(pages.templates.developmentAnswer(page, in: visit.frame), visit)
    }
}

extension String {
    /// Whether it is safe on a command line, as a code of ours is: any site can send a browser here with any text.
    fileprivate var isShellWord: Bool {
        utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
        }
    }
}
