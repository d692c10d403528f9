import TestSupport
import Testing

@Suite("The program ends what the matrix of docs/model.md says")
struct ModelRowTests {
    @Test(
        "Each cell of the matrix in docs/model.md is what the program does", arguments: ModelRow.all, Backend.available)
    func row(row: ModelRow, backend: Backend) async throws {
        let matrix = try ModelMatrix.read()
        let cells = try #require(matrix.rows.first { $0.number == row.number })
        let graph = row.usesFacebook ? try ProviderStandIn() : nil
        defer { graph?.stop() }
        let providers = graph.map { $0.settings.merging(IdentityProviderStory.settings) { $1 } } ?? [:]
        try await World.with(backend, settings: providers.merging(PhoneStory.settings) { $1 }) { world in
            let model = try await ModelWorld(world, graph)
            var asked: [ModelMatrix.Column: Set<String>] = [:]
            for (number, cause) in zip(1..., row.causes) {
                let prepared = try await cause.prepare(try await model.user("user\(number)@example.com"))
                for member in prepared.members where member.fate == nil {
                    asked[member.part.column, default: []].insert(member.part.word)
                }
                try await Trial(cause: cause.name, row: cells, prepared, model).run()
            }
            for column in ModelMatrix.Column.allCases {
                let words = Set((cells.cells[column] ?? [:]).keys)
                #expect(asked[column] == words, "row \(row.number): the words of \(column), and those asked for")
            }
        }
    }
}

/// One cause of a row, carried out.
private struct Trial {
    let cause: String
    let row: ModelMatrix.Row
    let prepared: ModelCause.Prepared
    let model: ModelWorld

    init(cause: String, row: ModelMatrix.Row, _ prepared: ModelCause.Prepared, _ model: ModelWorld) {
        self.cause = cause
        self.row = row
        self.prepared = prepared
        self.model = model
    }

    private typealias Fates = [(member: Member, fate: Fate)]

    func run() async throws {
        let before = try await model.messages()
        try await prepared.deed()
        let told = try await model.messages().filter { before[$0.key] == nil }.map(\.value)
        let fates = try await fates()
        for (member, fate) in fates { expect(fate, of: member) }
        expect(told: told, fates)
    }

    /// What has become of all members, after the deed and after it is undone.
    private func fates() async throws -> Fates {
        var (fates, dead): (Fates, [Member]) = ([], [])
        for member in prepared.members {
            if try await member.isLive() { fates.append((member, .lives)) } else { dead.append(member) }
        }
        try await prepared.undo?()
        for member in dead {
            let isBack = prepared.undo == nil ? false : try await member.isLive()
            fates.append((member, isBack ? .rests : .ends))
        }
        return fates
    }

    /// Expects the letter of the page.
    private func expect(_ fate: Fate, of member: Member) {
        let place = "row \(row.number), \(cause): \(member.name)"
        guard let should = row.fate(of: member) else {
            Issue.record("\(place): the matrix says nothing about “\(member.part.word)”")
            return
        }
        #expect(fate == should, "\(place)")
    }

    private func expect(told: [ModelWorld.Message], _ fates: Fates) {
        var notices: [ModelWorld.Message] = []
        if row.told.contains(.sites) { notices += fates.filter { $0.fate == .ends }.flatMap(\.member.notices) }
        if row.told.contains(.left), let left = prepared.left { notices.append(left) }
        // By the names of their sessions, which say more than their ids.
        let names = Dictionary(
            prepared.members.flatMap { member in member.notices.map { ($0, "\($0.client) of \(member.name)") } }
        ) { first, _ in first }
        func named(_ notices: [ModelWorld.Message]) -> [String] { notices.map { names[$0] ?? "\($0)" }.sorted() }
        let receivers = row.told.contains(.callback) ? prepared.callbacks : []
        let place = "row \(row.number), \(cause)"
        let (sent, calls) = (told.filter { $0.kind == "notice" }, told.filter { $0.kind == "callback" })
        #expect(named(sent) == named(notices), "\(place): who is told")
        #expect(model.receivers(of: calls) == receivers.map(\.rawValue).sorted(), "\(place): who gets callbacks")
    }
}

extension ModelWorld {
    /// Who gets these callbacks, as often as it does.
    fileprivate func receivers(of messages: [Message]) -> [String] {
        messages.map { message in receivers.first { $1.id == message.client }?.key.rawValue ?? message.client }
            .sorted()
    }
}

extension ModelMatrix.Row {
    /// What the row says of `member`; nil if it does not.
    fileprivate func fate(of member: Member) -> Fate? {
        if let fate = member.fate { return fate }
        if let origin = member.origin, cells[origin.column]?[origin.word] == [.lives] { return .lives }
        return cells[member.part.column]?[member.part.word]?[member.letter]
    }
}
