import Cryptography
import Testing

@testable import OpenID

/// The examples of OpenID Connect Core, appendix A.
@Suite struct IDTokenHashTests {
    @Test(
        "The hashes at_hash and c_hash are the left half of the SHA-256 digest, or of SHA-512 for EdDSA",
        arguments: [
            ("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", PrivateKey.Algorithm.rs256, "77QmUPtjPfzWtF2AnpK9RQ"),
            (
                "Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk", .rs256, "LDktKdoQak3Pk0cnXxCltA"
            ),
            ("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", .es256, "77QmUPtjPfzWtF2AnpK9RQ"),
            ("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", .ps256, "77QmUPtjPfzWtF2AnpK9RQ"),
            (
                "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", .edDSA,
                "q7nS86GgvvFaZkzALLWqJYaJIKw2wCDAVfCAsm5CrBM"
            ),
        ])
    func halves(_ text: String, _ algorithm: PrivateKey.Algorithm, _ hash: String) {
        #expect(IDToken.hash(text, isSHA512: algorithm == .edDSA) == hash)
    }
}
