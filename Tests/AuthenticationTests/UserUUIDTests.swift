import Authentication
import Directory
import Testing
import Values

@Suite("Users' UUIDs")
struct UserUUIDTests {
    @Test(
        "A user number always has the same UUID",
        arguments: [
            (1, "9b2e3dbf-a95b-826b-8000-000000000001"), (1001, "ad1adca3-35c7-85d7-8000-0000000003e9"),
            (4_503_599_627_370_496, "e418ea63-3959-8974-8010-000000000000"),
            (9_007_199_254_740_991, "690ffd7b-0df7-82e8-801f-ffffffffffff"),
        ])
    func table(number: Int64, uuid: String) throws {
        let made = UserUUID(UserID(number))
        #expect(made.description == uuid)
        #expect(UserUUID(uuid)?.user == UserID(number))
        #expect(UserUUID(uuid.uppercased())?.user == UserID(number))
        #expect(
            try made.description.wholeMatch(
                of: Regex("[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")) != nil)
    }

    @Test("Text that is not derived from a user number is no user's UUID")
    func others() {
        let real = UserUUID(UserID(1001)).description
        var altered = real.indices.filter { real[$0] != "-" }.map { index -> String in
            let digit: Character = real[index] == "0" ? "1" : "0"
            return real.replacingCharacter(at: index, with: digit)
        }
        altered += [
            "", "1001", String(real.dropLast()), real + "0", "{\(real)}", real.replacing("-", with: ""),
            "00000000-0000-8000-8000-000000000000", real.replacing("-", with: " "), String(repeating: "é", count: 18),
        ]
        for text in altered { #expect(UserUUID(text) == nil, "\(text)") }
    }
}

extension String {
    fileprivate func replacingCharacter(at index: Index, with character: Character) -> String {
        String(self[..<index]) + String(character) + String(self[self.index(after: index)...])
    }
}
