/** What to do when this service takes over the databases of another engine. Printed, never run. */
export const CUTOVER = `When svc takes over a database that the other engine served (OLD is its project, as seen from NEW):

1. Import the project, and look at what it will do:
     svc import OLD --out NEW
     cd NEW
     cp .env.example .env
     svc metadata lint
   In .env stand the addresses of the databases and whatever the metadata names, SVC_GRAPHQL_SESSION_PREFIX_ALIASES=x-hasura-, a
   metadata database of its own (SVC_GRAPHQL_METADATA_DATABASE_URL), and, so that no webhook is called by both,
     SVC_GRAPHQL_DISABLE_EVENTING=true
     SVC_GRAPHQL_ASYNC_ACTIONS_FETCH_INTERVAL=0
2. Start svc beside the other service, in NEW:
     svc serve
   In a second terminal, in NEW, first the metadata, so that the service has the sources; then what is applied already is written
   down; then what is left is deployed (--allow-inconsistent where a remote schema is not to be reached yet):
     svc metadata apply
     svc import OLD --out . --state-from https://old.example.com
     svc deploy
     svc metadata inconsistency status
   From here on both capture each event, and the other one delivers it.
3. Send a part of the reading traffic to svc, and compare answers.
4. Stop all writes: through the old service, through svc, and those that go to the databases themselves. From here to step 6 nothing is
   written. Wait until the old service has delivered its events, in each database with event triggers:
     select count(*) from hdb_catalog.event_log where not delivered and not error and not archived;
   What cannot wait is exported:
     copy (select * from hdb_catalog.event_log where not delivered and not error and not archived) to stdout with csv header;
   Also pending one-off events and asynchronous actions, in the metadata database of the old service:
     select * from hdb_catalog.hdb_scheduled_events where status = 'scheduled';
     select * from hdb_catalog.hdb_action_log where status = 'created';
5. Stop the old service. In each database drop its triggers, else writes fail once its schema is gone, and forget the events that it has
   delivered and svc has captured, too:
     select format('drop trigger if exists %I on %s;', t.tgname, t.tgrelid::regclass)
       from pg_trigger t where t.tgname like 'notify_hasura_%';
     delete from svc_catalog.event_log where not delivered and not error and not archived;
6. Take SVC_GRAPHQL_DISABLE_EVENTING and SVC_GRAPHQL_ASYNC_ACTIONS_FETCH_INTERVAL out of .env, start svc again, and send it the traffic:
     svc serve
   Event triggers have new event ids.
7. When nothing reads it any more: drop schema hdb_catalog cascade;
8. When clients, tokens and SQL speak x-svc-*, take SVC_GRAPHQL_SESSION_PREFIX_ALIASES away.
`;
