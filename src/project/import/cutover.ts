/** What to do when this service takes over the databases of another engine. Printed, never run. */
export const CUTOVER = `When svc takes over a database that the other engine served:

1. Import the project and look at what it will do:
     svc import OLD --out NEW; cd NEW; svc metadata lint
2. Start svc beside it, with a metadata database of its own and SVC_GRAPHQL_SESSION_PREFIX_ALIASES=x-hasura-.
   Write down what is applied already, then deploy:
     svc import OLD --out NEW --state-from https://old.example.com
     svc deploy
   From here on each event trigger captures in both systems: keep the time until step 5 short, or leave
   event triggers out of the metadata until then.
3. Send a part of the traffic to svc and compare answers.
4. Stop writes, or the old service. Wait until it has delivered its events:
     select count(*) from hdb_catalog.event_log where not delivered and not error and not archived;
   What cannot wait is exported:
     copy (select * from hdb_catalog.event_log where not delivered and not error and not archived) to stdout with csv header;
   Also pending one-off events and asynchronous actions, in the metadata database of the old service:
     select * from hdb_catalog.hdb_scheduled_events where status = 'scheduled';
     select * from hdb_catalog.hdb_action_log where status = 'created';
5. Drop its triggers, else each change is captured twice, and writes fail once its schema is gone:
     select format('drop trigger if exists %I on %s;', t.tgname, t.tgrelid::regclass)
       from pg_trigger t where t.tgname like 'notify_hasura_%';
6. Start traffic on svc. Event triggers have new event ids: a handler may see an event of each side.
7. When nothing reads it any more: drop schema hdb_catalog cascade;
8. When clients, tokens and SQL speak x-svc-*, take SVC_GRAPHQL_SESSION_PREFIX_ALIASES away.
`;
