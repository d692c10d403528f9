import Directory
import Outbound

extension SectorDocument.Source {
    /// Fetches sector documents, which are small: a longer one is refused.
    init(askedBy outbound: Outbound) {
        self.init { address, requester in
            let answer = try await outbound.asking(for: .sector, by: requester.share, part: requester.part).get(
                address, limit: 65536)
            guard answer.status == 200 else { throw OutboundError.unreachable }
            return answer.body
        }
    }
}
