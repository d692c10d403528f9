import Storage
import Testing

/// Lists, searches and downloads, of which few run at once.
@Suite struct RequesterTurnsTests {
    @Test("A merchant's many slow list queries do not delay a second requester, and a third one only briefly")
    func turns() async throws {
        let (turns, stage) = (RequesterTurns(most: 2, of: "lists"), TurnsStage())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await turns.run(for: .merchant("a")) { await stage.play("a\(number)") } }
            }
            try await TurnsStage.wait { stage.running == 1 }
            group.addTask { try await turns.run(for: .merchant("b")) { await stage.play("b") } }
            try await TurnsStage.wait { stage.running == 2 }
            #expect(stage.begun.count == 2 && stage.begun.last == "b", "\(stage.begun)")
            group.addTask { try await turns.run(for: .user(1)) { await stage.play("user") } }
            try await Task.sleep(for: .milliseconds(50))
            for ended in 1...2 {
                #expect(stage.endOne())
                try await TurnsStage.wait { stage.begun.count == 2 + ended }
            }
            #expect(stage.begun.contains("user"), "\(stage.begun)")
            while stage.begun.count < 22 || stage.running > 0 {
                _ = stage.endOne()
                await Task.yield()
            }
            try await group.waitForAll()
        }
        #expect(Set(stage.begun).count == 22)
    }

    @Test("At most 32 list queries of a requester and 512 in all wait; then the requester with most loses one")
    func bounds() async throws {
        let (turns, stage) = (RequesterTurns(most: 2, of: "lists"), TurnsStage())
        @Sendable func ask(_ requester: Requester, _ name: String) async {
            do {
                try await turns.run(for: requester) { await stage.play(name) }
            } catch {
                #expect(error as? StorageError == .tooMany("lists"))
                stage.refuse()
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 { group.addTask { await ask(.merchant("a"), "a\(number)") } }
            try await TurnsStage.wait { stage.refused == 7 }
            // One of them runs beside the first, and 512 wait.
            for number in 0..<481 { group.addTask { await ask(.merchant("m\(number / 32)"), "m\(number)") } }
            try await Task.sleep(for: .milliseconds(200))
            #expect(stage.refused == 7)
            group.addTask { await ask(.merchant("late"), "late") }
            try await TurnsStage.wait { stage.refused == 8 }
            while stage.begun.count < 514 || stage.running > 0 {
                _ = stage.endOne()
                await Task.yield()
            }
            try await group.waitForAll()
        }
        #expect(stage.begun.contains("late"))
        #expect(stage.refused == 8)
    }

    @Test("Many users' downloads leave merchants' list queries a place to run and room to wait")
    func users() async throws {
        let (turns, stage) = (RequesterTurns(most: 2, of: "lists"), TurnsStage())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<600 {
                group.addTask {
                    do {
                        try await turns.run(for: .user(Int64(number))) { await stage.play("user\(number)") }
                    } catch { stage.refuse() }
                }
            }
            // One runs, and half of the places in the queue are taken.
            try await TurnsStage.wait { stage.refused == 600 - 1 - 256 }
            #expect(stage.running == 1)
            group.addTask { try await turns.run(for: .merchant("a")) { await stage.play("a") } }
            try await TurnsStage.wait { stage.running == 2 }
            group.addTask { try await turns.run(for: .merchant("b")) { await stage.play("b") } }
            while stage.begun.count < 259 || stage.running > 0 {
                _ = stage.endOne()
                await Task.yield()
            }
            try await group.waitForAll()
        }
        #expect(stage.begun.contains("b"))
    }

    @Test("Nine users with many downloads waiting do not prevent another user's download")
    func usersOfMany() async throws {
        let (turns, stage) = (RequesterTurns(most: 2, of: "lists"), TurnsStage())
        try await withThrowingTaskGroup(of: Void.self) { group in
            @Sendable func ask(_ user: Int64, _ name: String) async {
                do { try await turns.run(for: .user(user)) { await stage.play(name) } } catch { stage.refuse() }
            }
            for number in 0..<297 { group.addTask { await ask(Int64(number % 9), "greedy\(number)") } }
            // One runs, and 256 wait.
            try await TurnsStage.wait { stage.running == 1 && stage.refused == 40 }
            group.addTask { await ask(77, "honest") }
            try await TurnsStage.wait { stage.refused == 41 }
            while stage.begun.count < 257 || stage.running > 0 {
                _ = stage.endOne()
                await Task.yield()
            }
            try await group.waitForAll()
        }
        #expect(stage.begun.contains("honest"))
    }

    @Test("List queries that wait when the process ends are refused, and one that runs is finished")
    func closing() async throws {
        let (turns, stage) = (RequesterTurns(most: 1, of: "lists"), TurnsStage())
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for user in 0..<10 {
                group.addTask {
                    (try? await turns.run(for: .user(Int64(user))) { await stage.play("\(user)") }) != nil
                }
            }
            try await TurnsStage.wait { stage.running == 1 }
            turns.close()
            for _ in 0..<9 { #expect(try await group.next() == false) }
            #expect(stage.endOne())
            #expect(try await group.next() == true)
        }
        #expect(stage.begun.count == 1)
    }
}

/// Changes: several of one share run at once, and its parts take turns.
@Suite struct RequesterPartsTests {
    private let turns = RequesterTurns(most: 8, ofShare: 4, waiting: 128, of: "changes")
    private let stage = TurnsStage()

    @Test("An administrator's many waiting changes delay another of the same merchant by a change or two")
    func parts() async throws {
        let greedy = Requester.merchant("a").asked(by: "greedy")
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { await stage.ask(turns, for: greedy, "greedy\(number)") }
            }
            await expect { stage.running == 4 && stage.refused == 68 }
            group.addTask { await stage.ask(turns, for: .merchant("b"), "b") }
            await expect { stage.begun.contains("b") }
            group.addTask { await stage.ask(turns, for: .merchant("a").asked(by: "other"), "other") }
            await expect { stage.refused == 69 }
            for ended in 1...2 {
                #expect(stage.endOne())
                await expect { stage.begun.count == 5 + ended }
            }
            #expect(stage.begun.contains("other"))
            await stage.endAll(133)
        }
        #expect(stage.refused == 69)
    }

    @Test("Merchants whose many administrators fill the queue of changes leave another merchant room in it")
    func manyParts() async throws {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { await stage.ask(turns, for: .merchant("m\(number % 2)"), "first\(number)") }
            }
            await expect { stage.running == 8 }
            for number in 0..<512 {
                let part = Requester.merchant("m\(number % 4)").asked(by: "\(number)")
                group.addTask { await stage.ask(turns, for: part, "\(number)") }
            }
            try? await Task.sleep(for: .milliseconds(200))
            #expect(stage.refused == 0)
            group.addTask { await stage.ask(turns, for: .merchant("late"), "late") }
            await expect { stage.refused == 1 }
            await stage.endAll(520)
        }
        #expect(stage.begun.contains("late"))
        #expect(stage.refused == 1)
    }

    private func expect(_ holds: () -> Bool) async { try? await TurnsStage.wait(until: holds) }
}
