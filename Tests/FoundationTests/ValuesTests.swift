import Cryptography
import Testing

@testable import Values

@Suite("Values") struct ValuesTests {
    @Test("A user number has one accepted spelling")
    func userID() {
        #expect(UserID("1001")?.number == 1001)
        #expect(UserID("9007199254740991")?.number == 9_007_199_254_740_991)
        let texts = [
            "", "0", "-1", "+1", "01", " 1", "1 ", "1.0", "1e3", "x", "١", "9007199254740992", "99999999999999999999",
        ]
        for text in texts {
            #expect(UserID(text) == nil, "\(text)")
        }
    }

    @Test("A new user number has sixteen digits and stays below 2^53")
    func randomUserID() {
        for pattern: [UInt8] in [[0], [255], [1, 2, 3, 4, 5, 6, 7, 8], [0x3F, 255]] {
            let id = UserID.random(from: FixedRandom(pattern: pattern))
            #expect(id.description.count == 16)
            #expect(UserID(id.description) == id)
        }
        let many = Set((0..<1000).map { _ in UserID.random(from: SystemRandom()) })
        #expect(many.count == 1000)
    }

    @Test("A system clock before 1970 reads as the first moment of 1970, and does not end the process")
    func beforeTheEpoch() {
        #expect(SystemClock.time(seconds: -1, nanoseconds: 999_999_999) == Timestamp(milliseconds: 0))
        #expect(SystemClock.time(seconds: -1_000_000_000_000, nanoseconds: 0) == Timestamp(milliseconds: 0))
        #expect(SystemClock.time(seconds: 1, nanoseconds: 500_000_000) == Timestamp(milliseconds: 1500))
    }

    @Test("Durations are exact to the millisecond")
    func timestamp() {
        let start = Timestamp(milliseconds: 1_700_000_000_123)
        #expect((start + .seconds(30)).milliseconds == 1_700_000_030_123)
        #expect((start - .milliseconds(124)).milliseconds == 1_699_999_999_999)
        #expect(start + .seconds(30) - start == .seconds(30))
        #expect(start < start + .milliseconds(1))
        #expect(start.seconds == 1_700_000_000)
        #expect(Timestamp(seconds: 5) == Timestamp(milliseconds: 5000))
        #expect(Duration.days(2) == .hours(48) && Duration.hours(1) == .minutes(60))
        #expect(Duration.milliseconds(1999).seconds == 1 && Duration.milliseconds(1999).milliseconds == 1999)
    }

    private enum Token {}

    @Test("A random secret has 256 bits, and its fingerprint is the SHA-256 of its text")
    func secret() {
        let secret = Secret<Token>.random(from: SystemRandom())
        #expect(secret.value.utf8.count == 43)
        #expect(secret.fingerprint.matches(Fingerprint(of: secret.value)))
        #expect(!secret.fingerprint.matches(Fingerprint(of: secret.value + "x")))
        #expect(secret.fingerprint.text == Base64URL.encode(Digest.sha256(secret.value.utf8)))
        #expect("\(secret.fingerprint)".count == 8)
    }

    @Test("An identifier has 24 hexadecimal digits")
    func identifier() {
        #expect(Identifier<Token>.random(from: FixedRandom(pattern: [0x0a, 0xf1])).text == "0af10af10af10af10af10af1")
    }
}
