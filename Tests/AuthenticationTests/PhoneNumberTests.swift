import Directory
import Testing

@Suite("Phone numbers have a country code") struct PhoneNumberTests {
    @Test(
        "A phone number is read in the usual spellings and written as E.164 does",
        arguments: [
            ("+4740000000", "+4740000000"), (" +47 400 00 000 ", "+4740000000"), ("0047 400-00-000", "+4740000000"),
            ("+1 202.555.0142", "+12025550142"), ("+47\u{A0}400\u{202F}00 000", "+4740000000"),
            ("+6834000", "+6834000"), ("+123456789012345", "+123456789012345"),
        ])
    func read(typed: String, text: String) throws {
        let number = try #require(PhoneNumber(typed))
        #expect(number.text == text)
        #expect(PhoneNumber(number.text) == number)
    }

    @Test(
        "Text that is no international number is no phone number",
        arguments: [
            "", "+", "40000000", "040000000", "+047400000", "000474000000", "+47400a0000", "+123456",
            "+1234567890123456",
            "++4740000000", "4+740000000", "+47(0)40000000", "+-4740000000", "+47--40000000", "+47 400 00 000 ext 2",
            "+٤٧٤٠٠٠٠٠٠٠", "+47\n40000000", "tel:+4740000000", "+47\u{0}40000000",
            String(repeating: " ", count: 40) + "+4740000000",
        ])
    func refuse(typed: String) {
        #expect(PhoneNumber(typed) == nil)
    }

    @Test("A masked phone number shows its beginning and its end")
    func veiled() throws {
        #expect(try #require(PhoneNumber("+4740000012")).veiled == "+47…12")
    }
}
