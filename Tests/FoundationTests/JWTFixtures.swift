/// Tokens signed by Python's `cryptography` 48, so that the code does not only agree with itself.
enum JWTFixtures {
    static let secret = "a shared secret of more than sixty-four bytes, which HS512 takes: æøå 0123456789"

    static let keys: [String: String] = [
        "rsa":
            #"""
        {"kty": "RSA", "kid": "rsa", "n": "4Kbd9D-Nb8ZPnp0xlSc1CbKlOpx17OSBxvmppTjX8VR4dUBbteTza5Fba_FJJapT6\#
        bxjUl_EU001yL5pR00WPGy5IwJ9osWOcQwuQjsh8gWTF9--L9UQ5KB1WIpzXf-Yu-Z_pzmphupYrK4ZJrc-99Pw0XsLXeWhcyVwM\#
        4hXgA1XEzK_1kBkKIdt1fYgLZLuBCBgs06E71A1PQtcwGHbRAXGubBxI5NElrvky05YjpeutyWXjCdiWl5jsYaeuHKUQGnsvtdAd\#
        9exdvs1MGVAx_SWEk1Id0XSg_T-VRkv3JZwB6LWl41PNHo4Pj9RBp_tscHfRwLiOt4ElGL7AggcuQ", "e": "AQAB"}
        """#,
        "p-256":
            #"""
        {"kty": "EC", "crv": "P-256", "kid": "p-256", "x": "p7B2RowEFONDNUUTJ0EEwqD2aZTSGI6B1SPCeJhk3mc",\#
        "y": "cIWZShPUHV6qVASSAgi8xpYOmCZel4AIqhD95IIQELk"}
        """#,
        "p-384":
            #"""
        {"kty": "EC", "crv": "P-384", "kid": "p-384", "x":\#
        "audnoDq-LbGV9RlV63HWqEASY6rfa5ZELH1_4UndSYgJF2cxF8XYorjX43FGnSNZ", "y":\#
        "EraLDnsJRgR19TOnb27L709kgY0jWlDfCmZ_jjablKb7we_OgUqUUJfwdJVPXpac"}
        """#,
        "p-521":
            #"""
        {"kty": "EC", "crv": "P-521", "kid": "p-521", "x":\#
        "AVVAtaNvdwxsZZhPCGaUp2wozzz4pZ32lR0NZujRaT6luBh_ZZwoPQFW0y0L97ITcL_-8kSdkRW0UelL9gfyFZe-", "y":\#
        "AGnZd01cBVD0-sI-njIfDO6JWrpeSUlqXjhxRAx1u8UUfH0NNThsv889N0fb-QCdz2jYIW8DRuNeDOIFh3DCI6rq"}
        """#,
        "ed25519":
            #"""
        {"kty": "OKP", "crv": "Ed25519", "kid": "ed25519", "x":\#
        "xy2V1VmbJ0UlP_nnI5ErZ66jRl7x_Z0hO7NAuN-4lh4"}
        """#,
        "weak":
            #"""
        {"kty": "RSA", "kid": "weak", "n": "0rIoPXY4sdI3KRDh0ABgAMWnSwz_TIOO2GrR6i7c-5pupX7SIEHlPZqCWFQporKc\#
        xLHZkQhBXTBTI8HpJNK9KgOuzLCkqE677SPTizRo3VoSfITPG7kJ5xyxHxbWLiHxUReLO_Ljmcx-YVYH2izc1oLIJxWkZ4e_5pzC\#
        FFKSCd0", "e": "AQAB"}
        """#,
    ]

    static let tokens: [String: String] = [
        "ES256":
            """
        eyJhbGciOiJFUzI1NiIsImtpZCI6InAtMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIs\
        ImF1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.VQecnIEa9ET5k9tTafPwHOUOgSH7\
        2emgF1fihbV2ZdrFFWRjjaP4Xu7GO2lI5v5rAGkadFGaBAakmpX2mZjAMA
        """,
        "ES384":
            """
        eyJhbGciOiJFUzM4NCIsImtpZCI6InAtMzg0In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIs\
        ImF1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.UIE287CnaRaiqC2GvQk1BLY5yz5g\
        YHnTTw9dt82IWlNfnNpZ0Jh4xVCYpHmbTZesr0YXG0_Da57GWLvmSwwKQTvxaOe_Ii0yDkGPfYPlIytHQIWBCuBl0CAZxrvitO4p
        """,
        "ES512":
            """
        eyJhbGciOiJFUzUxMiIsImtpZCI6InAtNTIxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIs\
        ImF1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.Aa8Gxr4xvIIq-xZlnWNQvp-yRbVx\
        XUhzSLhhQbYspifdrBbIrfaXCDCGnpAkH4AvLIiPHoVNr-jMyf7qufMZ-qdVAcMEt6RKu4skSKugPonVKjWQRX62ErOQuK8DpDrN\
        ECenPe0iWsIBWw53ll7EtOdViEs_r2yyPxgDYY0CXLnEMEHU
        """,
        "EdDSA":
            """
        eyJhbGciOiJFZERTQSIsImtpZCI6ImVkMjU1MTkifQ.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2Fya\
        SIsImF1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.Lc9H4V9rxmMRCxtVd9OAKakmK\
        PULLOsBTODK8BjqVpe7swkgfV5g8Rcb0wgBrlQaOHlWOKuUueEqWShdEhngDA
        """,
        "HS256":
            """
        eyJhbGciOiJIUzI1NiIsImtpZCI6ImFueSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIsImF\
        1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.XQx2rzohu1I6GScf6Mpde8zyf2YfqFS\
        xW3MOYl2986w
        """,
        "HS384":
            """
        eyJhbGciOiJIUzM4NCIsImtpZCI6ImFueSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIsImF\
        1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.2G_-9HtFkA6yL_mSHuSuBb5m1toR5zX\
        2_abhHeEU84ZZ_x3jYFhaB-KBheFCPTvz
        """,
        "HS512":
            """
        eyJhbGciOiJIUzUxMiIsImtpZCI6ImFueSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIsImF\
        1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.G-RreEft8m2KqBy30i8sdsl37gyNqWw\
        uXNitSpjuUJalZLSIQZ2jJu-x0ws6rOmA0Vkn__Vtwe93wjjfI1sJMw
        """,
        "PS256":
            """
        eyJhbGciOiJQUzI1NiIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIsImF\
        1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.cqjZhol3IhqYCx_vEd2qbpLNTqU1eH-\
        bmx9C5N7Iy1Qn1NRuq3VBjmARVi6II5y9FDz2vQwJ6MMLdVMtuTlo4fOkC6yqFRGg7kP6ziYMEoLMRFEwgTVoGGsbvp34ed6k3NN\
        yIwq7eowDu_9OvTt_XEzlNP6tnM1K02-ELPPiI4D1DEf1myHea-mOJ6iHvcd5EGHyDG20KHUV_2z-IgnGkSmUKpmIhmowhBEMELT\
        OX1cRwIWPNPt9NVxZYD8aN2GYwiaTy2hQlhuYO6gs3DAcbEqUJWejzpnWyQCry3Ob5hmH49kDYGQR0dtpUVGByN1eiY6FtNblq50\
        yvynw4iZDuw
        """,
        "PS384":
            """
        eyJhbGciOiJQUzM4NCIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIsImF\
        1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.lHmfmaZ7H-IKtPaShkYUdW0ZZjlCa5i\
        6BBQJtnm1zP0m-Rkd87xmGntAo0S8AL66fFNCmaWXkjz9k-BuaPL5j9qaR_DbuD8c-pokdgJrJX6nHfecGdsKHMnfwJn8MOuPJY6\
        SGGk5xpP3hCkTRxLo5371xQsej_w6Jonn1EeDkN2zE6BEhRqX8uY1YbmElj0FsBN2dSkaeaLVABn8Do6gpC5UiV917PpCbuuaeZo\
        hldAeWBo6s9AcEDwTdOj1lHOfQvf5to57nVBHE0aY9BiWuiImexdQgOPcYo_LVwsJ0YHucQgev0RMDBAbeZgrGMjmprx89lpo5bZ\
        E3wI2D_yk5g
        """,
        "PS512":
            """
        eyJhbGciOiJQUzUxMiIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIsImF\
        1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.N3Wyislrgri8EGdn3CEt6zff8hOVduz\
        Pz05T3T1i3AnWJ7A9ScUR6mtyOqS_0h6W9kKDebyjGRIlPyIqCI0n2K-YRqlpT6d55phNLKMlS56wb6xZdncS3OJmEEXFb0LruZE\
        zYoMs2ZbfOIwppPNKIY4gCiMTiURZ84jHcfzs6Z-xi4A7Sjrvv-zMbNbvip2yYHYqlS2cKQakfnUcAJg0bqkRdl8Pf5T6BSo0qle\
        ULfmE6dq23xxkEcEkIDksC-Pj-C4eWlh4Rf0Xwe2aKT5r_VLvgXwnjQ06iE92cJkTpmTqbCjqpsorrlgEzsMu7gkeuUryzxnsEwq\
        lWlPWvGSOPg
        """,
        "RS256":
            """
        eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIsImF\
        1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.qG0Djo7nViW3LxuJ8KG6hKRdLCuhJ_1\
        bBZijctFHEMnMTh-6sZTza1iwIQUfVf1GxGDABtVrRrDp8Noh1F8b3CdpWW1RMG21nYfV_u4w1y7PpmDHJ0QPAE8OqdtFx5rh0W2\
        5bBlc8cC1pVk0JqaTlDlFbQNpm8cCf3zRfMHR8WQkolCVjyXhax2u3jfD6Pf44E90PF6rzhahL-e-LXz0VqO1zHl8G74RFgOBgc6\
        OS_8eMOpfrktMc6utaf_pdBzlk7DFVJBw2d5ExjSn6oC2daMl32lKHARvJ9prYPwdKI-OUU9LqQdpU5wU-3FHyzxypwzQbJzWnhc\
        j6dCm7X3amg
        """,
        "RS384":
            """
        eyJhbGciOiJSUzM4NCIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIsImF\
        1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.KN7c8orU7JvysaB3XF3VWVpu_-6DrIA\
        wKg5w4I-VKbDONvAgACM5NabrlLi9vw9cwxF42UtC6_3y4DGr2V7MqoDgfmGb-_EJa20QO8feemZMV-816OpRr8nEBXdIEMl7b8f\
        2iFqO-1R3rDS-BQRiwsUWhRTKS-8NGki_QrLsFrcI-u8jAOD_Der44AWiuEmFtNBTi2dAsRO49fUB9-JUScVeb-XAGq2g3i-FXx3\
        Jqly47suo8MV_T1q7-EegeAbF2dqKTpDJBrNx9yVakWDyGeYgFrbhbR0vuTuO5_tiEsZlQPuRuR4ic9HdPN33T0hHbNzpxoNks3C\
        Hy-9tcMgehg
        """,
        "RS512":
            """
        eyJhbGciOiJSUzUxMiIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIsImF\
        1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.VyJKA5bsl0cJEMzQkOKQXiPwRhm_v14\
        OsL_jNoChdfPFH7au0rLL8wO9SOL7OpAv0C7iZOjcWjXe91uhBG9DDBhn0iPtZX77Ws3NXvIILot1gM3y34_QoG21mPKyP3wjf3O\
        trxqBz93oKkY3oes6--pGwFgqYyZUzbuEwjNinZrx7ggyJeAKAFoS0ugJRg_fjNWcDGRZM_e3HCllhq4VuiZBrBb-5qsMqXYq44U\
        Ug2RFr3JpMt4jNXqO3BcMpGn7Gc9uFUgzNT10V5g6kzDRKKorPN1Ss8XZCpE5JtDgMFRrU-D0UQs_rS_uoExtUmpe0sqlUezr2m1\
        1NegizTcUvg
        """,
    ]

    /// RS256 with a key of 1024 bits.
    static let weakToken =
        """
        eyJhbGciOiJSUzI1NiIsImtpZCI6IndlYWsifQ.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoia2FyaSIsI\
        mF1ZCI6WyJzcGluZGxlIiwib3RoZXIiXSwiZXhwIjoxMzAwODE5MzgwLCJqdGkiOiIxIn0.qg87VdbzjIZDx-emzfhzrq6L0NCLI\
        Ru1uoMgXEzqGO_qbybtQr5CzP-EEGPoGCr0IkmWop7y9Cr-Ob9nIzmzapgNwvU1v1DWlTz-KScynERhufb-zPHGKMUMJoy376_gF\
        unTAwF6YMXTQXu5S3cbnxei-Z9KhXATb9BFQg7sNCI
        """
}
