import { expect, it } from 'vitest';
import { schemaChanges } from './schema-changes.ts';

const shown = (before: string, after: string) => {
  const { all, main } = schemaChanges({ schemas: [{ role: 'user', before, after }] });
  const lines = (changes: typeof all) => changes.map(({ kind, message }) => `${kind}: ${message}`).sort();
  return { all: lines(all), main: lines(main) };
};

const SCHEMA = 'schema { query: query_root }\n';

it('treats added optional inputs as safe, and added required ones as breaking', () => {
  const schema = (input: string, argument: string) =>
    `${SCHEMA}type query_root { find(a: Int ${argument}): Int }\ninput filter { a: Int ${input} }`;
  expect(shown(schema('', ''), schema('b: Int', ', c: Int')).all).toEqual([
    'safe: An optional arg c on query_root.find was added.',
    'safe: An optional field b on input type filter was added.',
  ]);
  expect(shown(schema('', ''), schema('b: Int!', ', c: Int!')).all).toEqual([
    'breaking: A required arg c on query_root.find was added.',
    'breaking: A required field b on input type filter was added.',
  ]);
});

it('treats new values of enums as dangerous, unless only arguments have them', () => {
  const schema = (more: string) => `${SCHEMA}type query_root { a: state b(by: task_select_column): Int }
    enum state { open ${more} } enum task_select_column { id ${more} }`;
  expect(shown(schema(''), schema('done')).all).toEqual([
    'dangerous: done was added to enum type state.',
    'safe: done was added to enum type task_select_column.',
  ]);
});

/** Schema of a table in both naming conventions. */
const table = (columns: string, names: Readonly<Record<'type' | 'filter' | 'column' | 'max' | 'insert' | 'byPk', string>>) => `${SCHEMA}
  type query_root { tasks: [${names.type}!]! ${names.byPk}(id: Int!): ${names.type} }
  type ${names.type} { id: Int! ${columns} }
  type ${names.max} { id: Int ${columns} }
  input ${names.filter} { id: Int ${columns} }
  input ${names.insert} { id: Int ${columns} }
  enum ${names.column} { id ${columns.replace(/: \w+/g, '')} }`;

it.each([
  {
    ...{ type: 'task', filter: 'task_bool_exp', column: 'task_select_column', max: 'task_max_fields', insert: 'task_insert_input' },
    byPk: 'tasks_by_pk',
  },
  { type: 'Task', filter: 'TaskBoolExp', column: 'TaskSelectColumn', max: 'TaskMaxFields', insert: 'TaskInsertInput', byPk: 'tasksByPk' },
  {
    ...{ type: 'a_task_z', filter: 'a_task_bool_exp_z', column: 'a_task_select_column_z', max: 'a_task_max_fields_z' },
    ...{ insert: 'a_task_insert_input_z', byPk: 'tasks_by_pk' },
  },
])('folds what follows from a column of $type', (names) => {
  const [without, whole] = [table('', names), table('title: String', names)];
  expect(shown(without, whole).main).toEqual([`safe: ${names.type}.title was added.`]);
  expect(shown(whole, without).main).toEqual([`breaking: ${names.type}.title was removed.`]);
  expect(shown(whole, without).all).toHaveLength(5);
});

it('folds the types and fields that come with a root field', () => {
  const before = `${SCHEMA}type query_root { a: Int }`;
  const after = `schema { query: query_root mutation: mutation_root subscription: subscription_root }
    type query_root { a: Int task(where: task_bool_exp): [task!]! task_by_pk(id: Int!): task task_aggregate: task_aggregate! }
    type subscription_root { task: [task!]! task_stream: [task!]! task_aggregate: task_aggregate! }
    type mutation_root { insert_task(objects: [task_insert_input!]!): task_mutation_response insert_task_one: task }
    type task { id: Int! owner: user! } type user { id: Int! } type task_aggregate { nodes: [task!]! }
    type task_mutation_response { returning: [task!]! }
    input task_bool_exp { id: Int_comparison_exp } input Int_comparison_exp { _eq: Int } input task_insert_input { id: Int }`;
  expect(shown(before, after).main).toEqual(['safe: mutation_root.insert_task was added.', 'safe: query_root.task was added.']);
  expect(shown(after, before).main).toEqual(['breaking: mutation_root.insert_task was removed.', 'breaking: query_root.task was removed.']);
});

it('does not fold breaking changes into those of another table or of less severity', () => {
  const schema = (columns: string) => `${SCHEMA}
    type query_root { task: task task_one: task_one email: email email_updates: email_updates }
    type task { id: Int phone: Int phone_one: Int } type task_one { id: Int }
    type email { id: Int ${columns} } type email_updates { id: Int ${columns} }`;
  const removed = schema('').replace('phone: Int phone_one: Int', '');
  expect(shown(schema('text: String'), removed).main).toEqual([
    'breaking: email.text was removed.',
    'breaking: email_updates.text was removed.',
    'breaking: task.phone was removed.',
    'breaking: task.phone_one was removed.',
  ]);
  expect(shown(schema(''), schema('').replace('task: task task_one: task_one', '')).main).toEqual([
    'breaking: query_root.task was removed.',
    'breaking: query_root.task_one was removed.',
  ]);
  const inputs = (more: string) =>
    `${SCHEMA}type query_root { task: task } type task { id: Int ${more} } input task_insert_input { id: Int ${more.replace('Int', 'Int!')} }`;
  expect(shown(inputs(''), inputs('rank: Int')).main).toEqual([
    'breaking: A required field rank on input type task_insert_input was added.',
    'safe: task.rank was added.',
  ]);
});
