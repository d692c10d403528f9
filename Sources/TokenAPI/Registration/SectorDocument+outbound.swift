import Directory
import Outbound

extension SectorDocument.Source {
    /// Fetches sector documents, which are small: a longer one is refused.
    init(askedBy outbound: Outbound) {
        let outbound = outbound.asking(for: .sector)
        self.init { address, requester in
            let answer = try await outbound.get(address, limit: 65536, by: requester)
            guard answer.status == 200 else { throw OutboundError.unreachable }
            return answer.body
        }
    }
}
