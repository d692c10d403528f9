import TestSupport
import Testing
import Values

@Suite("Questions to Facebook and Google") struct ProviderFloodTests {
    @Test(
        "One merchant's flood of made-up tokens does not keep another merchant's users out",
        arguments: Backend.available, ["facebook", "googleplus"])
    func merchants(_ backend: Backend, _ type: String) async throws {
        try await ProviderStory.with(backend) { story in
            let other = try await story.atRival()
            other.facebook("alice", "1")
            other.google("alice", "1")
            #expect(try await other.register(type, "alice").status == 200)
            story.provider.hold("made-up")
            let flood = 50
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...flood { group.addTask { try await story.logIn(type, "made-up").status } }
                // The client's share is under way, and the rest is refused.
                for _ in 1...(flood - 8) { #expect(try await group.next() == 503) }
                #expect(try await other.logIn(type, "alice").status == 200)
                story.provider.release()
                for try await status in group { #expect(status == 400) }
            }
        }
    }

    @Test("A client's flood of made-up tokens ends at its rate, which is apart for each provider")
    func clients() async throws {
        try await ProviderStory.with(.sqlite) { story in
            for _ in 1...600 { #expect(try await story.logIn("facebook", "made-up").status == 400) }
            let answer = try await story.logIn("facebook", "made-up")
            #expect(answer.status == 503 && answer.error == "temporarily_unavailable")
            #expect(story.provider.questions.count == 600)
            // Another provider has its own quota.
            #expect(try await story.logIn("googleplus", "made-up").status == 400)
            story.world.server.clock.advance(by: .milliseconds(100))
            #expect(try await story.logIn("facebook", "made-up").status == 400)
        }
    }
}
