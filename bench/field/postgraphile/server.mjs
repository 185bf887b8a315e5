// PostGraphile 5 with the settings that its documentation advises for production: caches of operations and plans, prepared statements, no
// watch mode, no GraphiQL, no explain. Lists instead of connections, so that a query does the same work as ours.
//
//   NODE_ENV=production GRAPHILE_ENV=production node server.mjs FOLDER_OF_PACKAGES PG_URL PORT
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [packages, connectionString, port] = process.argv.slice(2);
const load = createRequire(join(packages, 'package.json'));
const { postgraphile } = load('postgraphile');
const { grafserv } = load('postgraphile/grafserv/node');
const { makePgService } = load('postgraphile/adaptors/pg');
const { PostGraphileAmberPreset } = load('postgraphile/presets/amber');
const { PgSimplifyInflectionPreset } = load('@graphile/simplify-inflection');
const { PostGraphileConnectionFilterPreset } = load('postgraphile-plugin-connection-filter');
const { PgAggregatesPreset } = load('@graphile/pg-aggregates');

const instance = postgraphile({
  extends: [PostGraphileAmberPreset, PgSimplifyInflectionPreset, PostGraphileConnectionFilterPreset, PgAggregatesPreset],
  // Filters and orders on columns without an index, as ours allows.
  disablePlugins: ['PgIndexBehaviorsPlugin'],
  schema: { defaultBehavior: '+list +connection', pgOmitListSuffix: true },
  pgServices: [makePgService({ connectionString, schemas: ['public'], pubsub: false })],
  grafserv: { port: Number(port), graphqlPath: '/graphql', graphiql: false, watch: false },
  grafast: { explain: false },
});
await instance.getSchema();
const server = createServer();
await instance.createServ(grafserv).addTo(server);
server.listen(Number(port), '127.0.0.1');
