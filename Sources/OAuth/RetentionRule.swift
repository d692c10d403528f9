import Storage
import Values

extension Retention {
    /// One kind of row, and when it has no use any more. Children go before their parents, so that no cascade is large.
    public enum Rule: String, Sendable, CaseIterable {
        case accessTokens, refreshTokens, authorizationCodes, exchangeCodes
        case refreshTokensOfEnded, endedFamilies, expiredFamilies
        case sessions, throttles, usedAssertions, signInPlaces, logins, verifications, deliveries
        case initialAccessTokens, upstreamRequests, interactions

        /// Deletes the oldest rows of the kind: `batch` at most, give or take those of one person or permission.
        func statement(at now: Timestamp, batch: Int) -> SQL {
            switch self {
            case .accessTokens:
                """
                DELETE FROM access_tokens WHERE fingerprint IN (
                    SELECT fingerprint FROM access_tokens WHERE expires_at <= \(now) ORDER BY expires_at LIMIT \(batch))
                """
            case .refreshTokens:
                """
                DELETE FROM refresh_tokens WHERE fingerprint IN (
                    SELECT fingerprint FROM refresh_tokens WHERE expires_at <= \(now - Retention.refreshMemory)
                    ORDER BY expires_at LIMIT \(batch))
                """
            case .authorizationCodes:
                """
                DELETE FROM authorization_codes WHERE fingerprint IN (
                    SELECT fingerprint FROM authorization_codes WHERE expires_at <= \(now - Retention.codeMemory)
                    ORDER BY expires_at LIMIT \(batch))
                """
            case .exchangeCodes:
                """
                DELETE FROM exchange_codes WHERE fingerprint IN (
                    SELECT fingerprint FROM exchange_codes WHERE expires_at <= \(now - Retention.codeMemory)
                    ORDER BY expires_at LIMIT \(batch))
                """
            // A chain that rotated every hour for a month has hundreds of tokens: they go first, in batches.
            case .refreshTokensOfEnded:
                """
                DELETE FROM refresh_tokens WHERE fingerprint IN (
                    SELECT r.fingerprint FROM token_families p JOIN refresh_tokens r ON r.family_id = p.id
                    WHERE p.ended_at <= \(now - Retention.refreshMemory) ORDER BY p.ended_at LIMIT \(batch))
                """
            case .endedFamilies:
                """
                DELETE FROM token_families WHERE id IN (
                    SELECT id FROM token_families WHERE ended_at <= \(now - Retention.refreshMemory)
                    ORDER BY ended_at LIMIT \(batch))
                AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.family_id = token_families.id)
                """
            // While its session lives it says who is to be told of the end; with the session's row it loses that.
            case .expiredFamilies:
                """
                DELETE FROM token_families WHERE id IN (
                    SELECT id FROM token_families
                    WHERE session_id IS NULL AND expires_at <= \(now - Retention.permissionMemory)
                    ORDER BY expires_at LIMIT \(batch))
                AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.family_id = token_families.id)
                """
            case .sessions:
                """
                DELETE FROM sessions WHERE id IN (
                    SELECT id FROM sessions WHERE expires_at <= \(now) ORDER BY expires_at LIMIT \(batch))
                """
            case .throttles:
                """
                DELETE FROM throttles WHERE name IN (
                    SELECT name FROM throttles WHERE theoretical_arrival <= \(now) ORDER BY theoretical_arrival LIMIT \(batch))
                """
            case .usedAssertions:
                """
                DELETE FROM used_assertions WHERE fingerprint IN (
                    SELECT fingerprint FROM used_assertions WHERE expires_at <= \(now)
                    ORDER BY expires_at LIMIT \(batch))
                """
            case .initialAccessTokens:
                """
                DELETE FROM initial_access_tokens WHERE id IN (
                    SELECT id FROM initial_access_tokens WHERE expires_at <= \(now)
                    ORDER BY expires_at LIMIT \(batch))
                """
            case .upstreamRequests:
                """
                DELETE FROM provider_requests WHERE state IN (
                    SELECT state FROM provider_requests WHERE expires_at <= \(now) ORDER BY expires_at LIMIT \(batch))
                """
            case .interactions:
                """
                DELETE FROM interactions WHERE fingerprint IN (
                    SELECT fingerprint FROM interactions WHERE expires_at <= \(now) ORDER BY expires_at LIMIT \(batch))
                """
            case .signInPlaces:
                """
                DELETE FROM known_devices WHERE seen_at <= \(now - Retention.placeMemory) AND user_id IN (
                    SELECT user_id FROM known_devices WHERE seen_at <= \(now - Retention.placeMemory)
                    ORDER BY seen_at LIMIT \(batch))
                """
            case .logins:
                """
                DELETE FROM logins WHERE id IN (
                    SELECT id FROM logins WHERE created_at <= \(now - Retention.loginMemory)
                    ORDER BY created_at LIMIT \(batch))
                """
            case .verifications:
                """
                DELETE FROM verifications WHERE id IN (
                    SELECT id FROM verifications WHERE expires_at <= \(now - Retention.verificationMemory)
                    ORDER BY expires_at LIMIT \(batch))
                """
            // Whoever delivers has moved `due_at` on: one that nobody can deliver comes up here when it is due again.
            case .deliveries:
                """
                DELETE FROM deliveries WHERE id IN (
                    SELECT id FROM deliveries WHERE due_at <= \(now) AND expires_at <= \(now)
                    ORDER BY due_at LIMIT \(batch))
                """
            }
        }
    }
}
