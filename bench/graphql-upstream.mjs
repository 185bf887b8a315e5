// Small GraphQL server for benches, in a separate process: graphql-js behind node:http, with data in memory. Prints its address once it
// listens.
import http from 'node:http';
import { buildSchema, graphql } from 'graphql';

const schema = buildSchema(`
  type Town { id: Int! name: String }
  type Query { town(id: Int!): Town towns(ids: [Int!]!): [Town!]! }
`);
const cities = Array.from({ length: 40 }, (_, id) => ({ id, name: `City ${id}` }));
const rootValue = { town: ({ id }) => cities[id] ?? null, towns: ({ ids }) => ids.flatMap((id) => cities[id] ?? []) };

const server = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const { query, variables } = JSON.parse(Buffer.concat(chunks).toString());
    const body = JSON.stringify(await graphql({ schema, rootValue, source: query, variableValues: variables }));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
