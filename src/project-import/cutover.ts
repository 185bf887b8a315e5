/** Instructions for moving the databases of another engine to this service. They are printed, never run. */
export const CUTOVER = `When svc takes over a database that the other engine served (OLD is its project, as seen from NEW):

1. Import the project, and check it:
     svc import OLD --out NEW
     cd NEW
     cp .env.example .env
     svc metadata lint
   Set in .env the addresses of the databases, the variables that the metadata uses, SVC_GRAPHQL_SESSION_PREFIX_ALIASES=x-hasura-, a
   separate metadata database (SVC_GRAPHQL_METADATA_DATABASE_URL), and, so that the two services do not both call a webhook:
     SVC_GRAPHQL_DISABLE_EVENTING=true
     SVC_GRAPHQL_ASYNC_ACTIONS_FETCH_INTERVAL=0
2. Start svc beside the other service, in NEW:
     svc serve
   In a second terminal, in NEW, apply the metadata, so that the service has the sources; mark the migrations that are already applied;
   then deploy the rest (with --allow-inconsistent if a remote schema cannot be reached yet):
     svc metadata apply
     svc import OLD --out . --state-from https://old.example.com
     svc deploy
     svc metadata inconsistency status
   From now on both services capture each event, and the old service delivers it.
3. Send part of the read traffic to svc, and compare the responses.
4. Stop all writes: through the old service, through svc, and directly to the databases. Do not write anything until step 6.
   Wait until the old service has delivered its events, in each database with event triggers:
     select count(*) from hdb_catalog.event_log where not delivered and not error and not archived;
   Export the events that you cannot wait for:
     copy (select * from hdb_catalog.event_log where not delivered and not error and not archived) to stdout with csv header;
   Check pending one-off events and asynchronous actions too, in the metadata database of the old service:
     select * from hdb_catalog.hdb_scheduled_events where status = 'scheduled';
     select * from hdb_catalog.hdb_action_log where status = 'created';
5. Stop the old service. In each database, drop its triggers, because writes fail with them once its schema is dropped, and delete the
   events that it has delivered and svc has captured too:
     select format('drop trigger if exists %I on %s;', t.tgname, t.tgrelid::regclass)
       from pg_trigger t where t.tgname like 'notify_hasura_%';
     delete from svc_catalog.event_log where not delivered and not error and not archived;
6. Remove SVC_GRAPHQL_DISABLE_EVENTING and SVC_GRAPHQL_ASYNC_ACTIONS_FETCH_INTERVAL from .env, restart svc, and send all traffic to it:
     svc serve
   Event triggers have new event ids.
7. When nothing uses the old schema: drop schema hdb_catalog cascade;
8. When all clients, tokens and SQL use x-svc-*, remove SVC_GRAPHQL_SESSION_PREFIX_ALIASES.
`;
