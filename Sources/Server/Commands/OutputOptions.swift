import CommandLineTool
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
    func position(in list: ListCursor) throws(CommandFailure) -> String {
        guard let after else { return "" }
        guard let position = list.position(of: after) else { throw Self.badCursor }
        return position
    }

    /// The same in a list that is ordered by a number.
    func number(in list: ListCursor) throws(CommandFailure) -> Int64 {
        let position = try position(in: list)
        guard !position.isEmpty else { return 0 }
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
