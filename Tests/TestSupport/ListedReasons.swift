import Foundation
import Logging

/// The reasons that the documents list. After each test of a whole server, those in its log must be among them.
enum ListedReasons {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    private static let all: Set<Substring> = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try? String(contentsOf: root.appending(path: "docs/operating/reasons.md"), encoding: .utf8)
        return Set((text ?? "").split(separator: "`").map { $0 })
    }()

    /// Throws when a refusal in `log` has a reason that is not listed, or none at all.
    static func check(_ log: RecordedLog) throws {
        for reason in log.reasons {
            let word = reason.prefix { $0 != ":" }
            let isOfFamily = ["spid_", "refused_", "malformed_"].contains { word.hasPrefix($0) }
            guard reason != "unexplained", all.contains(word) || isOfFamily else {
                throw Missing(description: "a refusal's reason is not in docs/operating/reasons.md: \(reason)")
            }
        }
    }
}

extension RecordedLog {
    /// The reasons of all refusals so far.
    fileprivate var reasons: Set<String> {
        Set(records.filter { $0.message == "refused" }.map { $0.metadata["reason"]?.description ?? "none" })
    }
}
