import { graphql } from './gql/gql.ts';

export const SIGN_IN = graphql(`
  mutation SignIn($email: String!, $password: String!) {
    sign_in(email: $email, password: $password) {
      token
      name
    }
  }
`);

export const TASK_FIELDS = graphql(`
  fragment TaskFields on task {
    id
    title
    is_done
    author {
      id
      name
    }
  }
`);

export const TASKS = graphql(`
  query Tasks($where: task_bool_exp!, $limit: Int!) {
    task(where: $where, order_by: { id: desc }, limit: $limit) {
      ...TaskFields
    }
  }
`);

export const LIVE_TASKS = graphql(`
  subscription LiveTasks($where: task_bool_exp!, $limit: Int!) {
    task(where: $where, order_by: { id: desc }, limit: $limit) {
      ...TaskFields
    }
  }
`);

export const ADD_TASK = graphql(`
  mutation AddTask($title: String!) {
    insert_task_one(object: { title: $title }) {
      id
    }
  }
`);

export const CHANGE_TASK = graphql(`
  mutation ChangeTask($id: Int!, $changes: task_set_input!) {
    update_task_by_pk(pk_columns: { id: $id }, _set: $changes) {
      ...TaskFields
    }
  }
`);
