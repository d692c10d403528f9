import CommandLineTool
import Directory
import JSON
import Text

/// `--set`, for every setting of a client that administration knows.
struct ClientSettingOptions: CommandArguments {
    @Option(
        name: "set",
        help: "Set any setting of a client, see 'spindle help client-settings'; may be repeated.",
        valueName: "member=value")
    var settings: [String] = []

    /// The text of `spindle help client-settings`.
    static var help: String {
        let width = Client.settings.map(\.name.count).max() ?? 0
        let lines = Client.settings.map { setting in
            let pad = String(repeating: " ", count: width + 2 - setting.name.count)
            return "  \(setting.name)\(pad)\(word(for: setting.schema.kind))"
        }
        return """
            All settings of a client: --set MEMBER=VALUE with 'client create' and 'client change'.
            One of a list is added by each --set; MEMBER= empties a list, and removes a text.

            \(lines.joined(separator: "\n"))
            """
    }

    private static func word(for kind: Schema.Kind) -> String {
        switch kind {
        case .text: "text"
        case .list: "list"
        case .flag: "true or false"
        case .number: "number"
        case .document: "JSON"
        }
    }

    /// The members that are set. Throws for one that is unknown, is in `given` too, or has no such value.
    func members(besides given: [JSON.Member]) throws -> [JSON.Member] {
        var members: [JSON.Member] = []
        for text in settings {
            guard let mark = text.firstIndex(of: "=") else {
                throw CommandFailure("--set \(text.printable): must be member=value", .usage)
            }
            let name = String(text[..<mark])
            let value = try Self.value(String(text[text.index(after: mark)...]), of: Self.setting(name))
            guard !given.contains(where: { $0.name == name }) else {
                throw CommandFailure("--set \(name): there is another option for it beside", .usage)
            }
            if let index = members.firstIndex(where: { $0.name == name }) {
                guard let more = value.array, let before = members[index].value.array else {
                    throw CommandFailure("--set \(name): must be given once", .usage)
                }
                members[index] = JSON.Member(name, .array(before + more))
            } else {
                members.append(JSON.Member(name, value))
            }
        }
        return members
    }

    private static func setting(_ name: String) throws -> DocumentMember {
        if let setting = Client.settings.first(where: { $0.name == name }) { return setting }
        let meant = name.nearest(of: Client.settings.map(\.name)).map { ": did you mean \($0)?" } ?? ""
        throw CommandFailure("a client has no setting \(name.printable)\(meant)", .usage)
    }

    private static func value(_ text: String, of setting: DocumentMember) throws -> JSON {
        switch setting.schema.kind {
        case .text: return text.isEmpty ? .null : .string(text)
        // `refresh_family_lifetime` is a number or a word.
        case .number: return Int64(text).map { .integer($0) } ?? .string(text)
        case .flag:
            guard let flag = Bool(text) else { throw JSONFault(setting.name, "true or false") }
            return .bool(flag)
        case .list:
            if text.hasPrefix("["), let list = try? JSON(parsing: Array(text.utf8)) { return list }
            return .array(text.isEmpty ? [] : [.string(text)])
        case .document:
            guard !text.isEmpty else { return .null }
            guard let json = try? JSON(parsing: Array(text.utf8)) else { throw JSONFault(setting.name, "JSON") }
            return json
        }
    }
}
