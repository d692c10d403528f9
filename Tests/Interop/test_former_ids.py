"""What `client create` looks for of an earlier client with the same id."""

import json

COUNTED = """
    CREATE TABLE looks (at INT);
    CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO public.looks VALUES (1); RETURN NULL; END $$;
    CREATE TRIGGER looked AFTER DELETE ON host_sessions FOR EACH STATEMENT EXECUTE FUNCTION look();
    """


def test_a_client_with_a_new_id_reads_all_sessions_at_hosts_of_sites(prepare, cluster):
    server = prepare("postgresql")
    server.init()
    # Of each statement, also where it finds nothing.
    cluster.query(server.database, COUNTED)

    def looks(*arguments: str) -> int:
        made = server.command("client", "create", "--name", "News", *arguments, "--json")
        assert made.returncode == 0, made.stdout + made.stderr
        return int(cluster.query(server.database, "SELECT count(*) FROM looks")[0][0])

    created = server.command("merchant", "create", "--name", "Loom", "--json")
    merchant = json.loads(created.stdout)["id"]
    assert looks("--merchant", merchant) == 0
    assert looks("--merchant", merchant, "--id", "kept-in-apps") == 1
