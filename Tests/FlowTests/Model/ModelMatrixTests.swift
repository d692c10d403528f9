import Testing

@Suite("The matrix of docs/model.md can be read")
struct ModelMatrixTests {
    @Test("The matrix of docs/model.md has sixteen rows")
    func page() throws {
        let rows = try ModelMatrix.read().rows
        #expect(rows.count == 16)
        #expect(rows[0].cells[.inWebViews] == ["": [.ends, .ends, .lives], "reached": [.ends, .ends, .ends]])
        #expect(rows[0].cells[.backends] == ["": [.lives], "reached": [.ends]])
        #expect(rows[0].told == [.sites, .callback])
    }

    @Test("A matrix for docs/model.md that lacks a row is refused")
    func missingRow() throws {
        #expect(throws: ModelMatrix.Fault(description: "the rows are \(Array(1...15)), not 1 to 16")) {
            try ModelMatrix(Self.page(rows: 15))
        }
    }

    @Test("A row of the matrix in docs/model.md with unknown words or letters is refused and named")
    func unknown() throws {
        for (cell, named) in [
            ("E E X", "E E X"), ("E E", "E E"), ("E E L; gone E E E", "gone E E E"), ("", ""),
            ("E E L; E E E", "E E E"), ("e e l", "e e l"),
        ] {
            #expect(throws: ModelMatrix.Fault(description: "row 3 says “\(named)”"), "\(cell)") {
                try ModelMatrix(Self.page(inWebViews: cell))
            }
        }
        for told in ["every client", "no client; sites", ""] {
            #expect(throws: ModelMatrix.Fault(description: "row 3 tells \(told)"), "\(told)") {
                try ModelMatrix(Self.page(told: told))
            }
        }
    }

    @Test("A word in the legend of docs/model.md that no row of the matrix uses is refused")
    func unusedWord() throws {
        #expect(throws: ModelMatrix.Fault.self) { try ModelMatrix(Self.page(words: ["reached", "kept"])) }
    }

    /// A page whose third row has these cells.
    private static func page(
        rows: Int = 16, words: [String] = ["reached"], inWebViews: String = "E E L", told: String = "sites"
    ) -> String {
        let legend = words.map { "| \($0) | as it says |" }
        let matrix = (1...rows).map { number in
            number == 3
                ? "| 3 | a cause | E | \(inWebViews) | L | \(told) |"
                : "| \(number) | a cause | E | E E L | L; reached E | sites |"
        }
        return """
            # A page

            | word | what the letter is about |
            |---|---|
            \(legend.joined(separator: "\n"))

            | # | what happens | itself | got in these web views | backends by its codes | who is told |
            |---|---|---|---|---|---|
            \(matrix.joined(separator: "\n"))
            """
    }
}
