import CommandLineTool
import Glibc
import JSON
import Values

/// How a command prints its answer.
struct OutputOptions: CommandArguments {
    @Flag(help: "Print JSON, as the administration endpoints answer it.") var json = false

    /// Prints one document. `loss` says what to do if it contains a secret and cannot be written.
    func print(_ document: JSON, loss: String? = nil) {
        guard !json else { return Terminal.print(json: document, loss: loss) }
        Terminal.print(Table.of(document), loss: loss)
    }

    /// Prints a page of a list. The table shows `columns` of each item.
    func print(_ page: Page, columns: [String]) {
        guard !json else { return Terminal.print(json: page.json) }
        if !page.items.isEmpty { Terminal.print(Table.of(page.items, columns: columns)) }
        if let next = page.next { Terminal.tell("there are more: --after \(next)") }
    }

    /// Prints a sentence about what was done, for commands without a document to print.
    func say(_ sentence: String) {
        if !json { Terminal.print(sentence) }
    }
}

/// Whether a deletion is confirmed beforehand.
struct ConfirmationOptions: CommandArguments {
    @Flag(help: "Delete without asking.") var yes = false

    /// Asks whether to delete `what`, and throws unless the answer is yes. Only a terminal can be asked.
    func confirm(deleting what: String) throws {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure("this deletes \(what): add --yes, as there is no terminal to ask at", .usage)
        }
        Terminal.tell("Delete \(what)? This cannot be undone. [y/N]")
        guard ["y", "yes"].contains(readLine()?.lowercased()) else { throw CommandFailure("nothing was deleted") }
    }
}

extension JSON {
    /// The document of a change, which must change something.
    func changing() throws -> JSON {
        guard members?.isEmpty == false else {
            throw CommandFailure("nothing to change: give what is to be changed, see --help", .usage)
        }
        return self
    }
}

/// Which part of a list to print.
struct PageOptions: CommandArguments {
    @Option(help: "Continue after this cursor of the previous page.", valueName: "cursor")
    var after: String?
    @Option(help: "How many to print at most, 1 to 1000.", valueName: "number") var count = 100

    func validate() throws(Misuse) {
        guard (1...1000).contains(count) else { throw Misuse("--count must be from 1 to 1000") }
    }

    /// One more than is printed, to know whether there is another page.
    var fetchCount: Int { count + 1 }

    /// The position of the last item of the page before; empty for the first page.
    func position(in list: ListCursor) throws(CommandFailure) -> String? {
        guard let after else { return nil }
        guard let position = list.position(of: after) else { throw Self.badCursor }
        return position
    }

    /// The same in a list that is ordered by a number.
    func number(in list: ListCursor) throws(CommandFailure) -> Int64 {
        guard let position = try position(in: list) else { return 0 }
        guard let number = Int64(position) else { throw Self.badCursor }
        return number
    }

    private static let badCursor = CommandFailure(
        "--after: must be the cursor of a previous page of the same list", .usage)

    func page<Item>(
        _ found: [Item], of list: ListCursor, position: (Item) -> String, json: (Item) -> JSON
    ) -> Page {
        let items = found.prefix(count)
        let last = found.count > count ? items.last : nil
        return Page(items: items.map(json), next: last.map { list.text(after: position($0)) })
    }
}

extension ListCursor {
    /// The cursor of the same list in administration, of `merchant` alone if given.
    init(of path: String, merchant: String?) {
        self.init(of: path, filters: merchant.map { [(name: "merchant_id", value: $0)] } ?? [])
    }
}

/// A page of a list, as the administration endpoints answer it.
struct Page {
    let items: [JSON]
    let next: String?

    var json: JSON { .members(["items": .array(items), "next": next.map { .string($0) } ?? .null]) }
}

/// Formats documents as tables to read.
enum Table {
    /// One document: a line for each member.
    static func of(_ document: JSON) -> String {
        let members = document.members ?? []
        let width = members.map(\.name.count).max() ?? 0
        return members.map { pad($0.name, to: width) + "  " + cell($0.value, of: $0.name) }.joined(separator: "\n")
    }

    /// Many documents: a row for each, under a header.
    static func of(_ documents: [JSON], columns: [String]) -> String {
        of([columns] + documents.map { document in columns.map { cell(document[$0], of: $0) } })
    }

    /// Rows with the same number of cells each, aligned in columns.
    static func of(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.indices.dropLast().map { pad(row[$0], to: widths[$0]) } + row.suffix(1)
            return cells.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// A value on one line. Text from other users must not control the terminal.
    private static func cell(_ value: JSON?, of name: String = "") -> String {
        switch value {
        // RFC 7591 §3.2.1.
        case .integer(0) where name == "client_secret_expires_at": "never"
        case .integer(let seconds) where name.hasSuffix("_at"):
            Timestamp(seconds: seconds).map { "\($0.iso8601)" } ?? "\(seconds)"
        case nil, .null: "-"
        case .string(let text): text.isEmpty ? "-" : text.printable
        case .bool(let flag): flag ? "yes" : "no"
        case .array(let values): values.isEmpty ? "-" : values.map { cell($0) }.joined(separator: " ")
        case let value?: value.text.printable
        }
    }

    private static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

/// The two streams that a command writes to.
enum Terminal {
    /// Opens standard streams that were closed when the process started, before other files get their numbers:
    /// otherwise an answer or the log would be written into a connection. Printing an answer then fails, as it would
    /// have.
    static func fillClosedStreams() {
        for (stream, mode) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(stream, F_GETFD) == -1 {
            _ = open("/dev/null", mode)
        }
    }

    /// Prints the command's answer to standard output. If it cannot be written, the command has done its work but
    /// fails. `loss` says what to do about a secret in it, which is shown only once.
    static func print(_ text: String, loss: String? = nil) {
        guard !LineWriter(descriptor: STDOUT_FILENO).write(text + "\n") else { return }
        let reason = String(cString: strerror(errno))
        CommandFailure(
            "done, but the output cannot be written: \(reason)" + (loss.map { ". \($0)" } ?? ""), .notWritten
        ).end()
    }

    /// Prints the command's answer as JSON that cannot control the terminal.
    static func print(json document: JSON, loss: String? = nil) { print(document.printableText, loss: loss) }

    /// Prints anything that is not part of the answer to standard error.
    static func tell(_ text: String) { LineWriter(descriptor: STDERR_FILENO).write(text + "\n") }
}
