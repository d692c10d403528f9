import Storage
import Testing

/// Changes, of which several of one share run at once, and whose parts take turns.
@Suite struct RequesterPartsTests {
    private let turns = RequesterTurns(most: 8, ofShare: 4, waiting: 128, of: "changes")
    private let stage = TurnsStage()

    @Test("An administrator with many changes delays others of the same merchant by one change")
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

    @Test("Merchants whose many administrators fill the queue leave another merchant room")
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
