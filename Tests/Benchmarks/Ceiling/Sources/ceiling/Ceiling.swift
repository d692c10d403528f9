import Foundation
import Hummingbird

/// `ceiling PORT ANSWERS`: answers a POST to each path named in the JSON object ANSWERS with the constant given there.
@main struct Ceiling {
    static func main() async throws {
        guard CommandLine.arguments.count == 3, let port = Int(CommandLine.arguments[1]) else {
            throw Usage()
        }
        let file = try Data(contentsOf: URL(filePath: CommandLine.arguments[2]))
        let answers = try JSONDecoder().decode([String: String].self, from: file)

        let router = Router()
        for (path, answer) in answers {
            let body = ByteBuffer(string: answer)
            router.post(RouterPath(path)) { request, _ in
                // The whole body, with the product's limit: the framework's part of the work is to be the same.
                _ = try await request.body.collect(upTo: 65_536)
                return Response(
                    status: .ok,
                    headers: [.contentType: "application/json", .cacheControl: "no-store"],
                    body: ResponseBody(byteBuffer: body))
            }
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        try await application.runService()
    }

    struct Usage: Error, CustomStringConvertible {
        let description = "usage: ceiling PORT ANSWERS"
    }
}
