// Reads a list in pages, forward and backward, then changes a row of it. Prints the list as Relay's store has it after each answer.
const relay = require('relay-runtime');

const { SVC_GRAPHQL_ENDPOINT: endpoint = 'http://localhost:8080', PROJECT: project } = process.env;
const compiled = (name) => require(`./__generated__/documents${name}.graphql.js`);

const environment = new relay.Environment({
  network: relay.Network.create(async ({ text, name }, variables) => {
    const response = await fetch(`${endpoint}/v1/relay`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Svc-Role': 'member' },
      body: JSON.stringify({ query: text, operationName: name, variables }),
    });
    return response.json();
  }),
  store: new relay.Store(new relay.RecordSource()),
});

async function read(name, variables) {
  environment.retain(relay.createOperationDescriptor(compiled(name), variables));
  return relay.fetchQuery(environment, compiled(name), variables).toPromise();
}

/** Returns the connection of a fragment, as far as its pages have been read. */
function connectionOf(fragment, reference, field) {
  return environment.lookup(relay.getSelector(compiled(fragment), reference)).data[field];
}

function print(way, { edges }) {
  console.log(`${way}: ${edges.map(({ node }) => (node.done ? `${node.title} (done)` : node.title)).join(', ')}`);
}

async function run() {
  const ofProject = await read('ProjectQuery', { project });
  const tasks = () => connectionOf('Tasks_project', ofProject.node.project, 'tasks_connection');
  print('forward', tasks());
  while (tasks().pageInfo.hasNextPage) {
    await read('NextQuery', { id: project, count: 3, cursor: tasks().pageInfo.endCursor });
    print('forward', tasks());
  }
  const whole = await read('AllQuery', {});
  const last = () => connectionOf('Last_all', whole, 'task_connection');
  print('backward', last());
  while (last().pageInfo.hasPreviousPage) {
    await read('PreviousQuery', { count: 3, cursor: last().pageInfo.startCursor });
    print('backward', last());
  }
  await new Promise((onCompleted, onError) => {
    relay.commitMutation(environment, { mutation: compiled('DoneMutation'), variables: { id: 4 }, onCompleted, onError });
  });
  print('changed', tasks());
}

run().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
