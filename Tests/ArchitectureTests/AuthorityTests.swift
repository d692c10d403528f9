import Testing

/// Who acts is a value (`Authority`), which the write asks again in its own transaction.
@Suite struct AuthorityTests {
    @Test(
        "No function has a parameter named confirm, permit, adopt or also, for a closure that checks rights",
        arguments: SourceTree.sources)
    func closures(_ file: SourceFile) {
        let label = /(case \.)?\b(confirm|permit|adopt|also)\s*:/
        for (number, line) in file.code(with: ["confirm", "permit", "adopt", "also"]) {
            let labels = line.matches(of: label).filter { $0.output.1 == nil }
            #expect(labels.isEmpty, "\(file.path):\(number): \(line)")
        }
    }

    @Test("Only the module Administration reads which merchant an administrator is confined to")
    func confinement() {
        let readers = SourceTree.sources.filter { file in
            file.code(with: ["confines"]).contains { $0.line.contains(/\bconfines\b/) }
        }
        #expect(Set(readers.map(\.module)) == ["Administration"])
    }
}
