// For the compiler. Only a build with Relay's plugin can run it; `tasks.js` loads what the compiler makes of it.
const { graphql } = require('relay-runtime');

graphql`
  query documentsProjectQuery($project: ID!) {
    node(id: $project) { ...documentsTasks_project @alias(as: "project") }
  }
`;

graphql`
  fragment documentsTasks_project on project
  @argumentDefinitions(count: { type: "Int", defaultValue: 3 }, cursor: { type: "String" })
  @refetchable(queryName: "documentsNextQuery") {
    name
    tasks_connection(first: $count, after: $cursor, order_by: [{ title: asc }]) @connection(key: "tasks_tasks_connection") {
      edges { node { id title done } }
    }
  }
`;

graphql`
  query documentsAllQuery { ...documentsLast_all }
`;

graphql`
  fragment documentsLast_all on query_root
  @argumentDefinitions(count: { type: "Int", defaultValue: 3 }, cursor: { type: "String" })
  @refetchable(queryName: "documentsPreviousQuery") {
    task_connection(last: $count, before: $cursor, order_by: [{ title: asc }]) @connection(key: "tasks_task_connection") {
      edges { node { id title done } }
    }
  }
`;

graphql`
  mutation documentsDoneMutation($id: Int!) {
    update_task_by_pk(pk_columns: { id: $id }, _set: { done: true }) { id done }
  }
`;
