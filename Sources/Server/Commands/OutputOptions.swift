import CommandLineTool
import JSON

/// How a command prints its answer.
struct OutputOptions: CommandArguments {
    @Flag(help: "Print JSON, as the administration endpoints answer it.") var json = false

    /// Prints one document. `loss` says what to do about a secret in it when it cannot be written.
    func print(_ document: JSON, loss: String? = nil) {
        guard !json else { return Terminal.print(json: document, loss: loss) }
        Terminal.print(Table.of(document), loss: loss)
    }

    /// Prints a page of a list. The table for people shows `columns` of each item.
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
    @Option(help: "Go on after this cursor of the page before.", valueName: "cursor")
    var after: String?
    @Option(help: "How many to print at most, 1 to 1000.", valueName: "number") var count = 100

    func validate() throws(Misuse) {
        guard (1...1000).contains(count) else { throw Misuse("--count must be from 1 to 1000") }
    }

    /// One more than is printed, which tells whether there is another page.
    var fetchCount: Int { count + 1 }

    func page<Item>(_ found: [Item], cursor: (Item) -> String, json: (Item) -> JSON) -> Page {
        let items = found.prefix(count)
        return Page(items: items.map(json), next: found.count > count ? items.last.map(cursor) : nil)
    }
}

/// A page of a list, as the administration endpoints answer it.
struct Page {
    let items: [JSON]
    let next: String?

    var json: JSON { .members(["items": .array(items), "next": next.map { .string($0) } ?? .null]) }
}
