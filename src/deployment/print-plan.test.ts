import { expect, it } from 'vitest';
import type { DocumentChange } from '../project/document-diff.ts';
import { painter } from '../util/paint.ts';
import type { DeploymentPlan } from './deployment-plan.ts';
import { planJson } from './plan-json.ts';
import { printPlan } from './print-plan.ts';
import type { SchemaChange } from './schema-change.ts';
import { summaryJson, summaryOf } from './summary.ts';

const NOTHING: DeploymentPlan = {
  ...{
    hash: 'h',
    migrations: [],
    seeds: [],
    rejections: [],
    refusals: [],
    unset: [],
    changes: [],
    schemas: [],
    mainSchemas: [],
    destructive: [],
    notes: [],
  },
  inconsistencies: { before: [], after: [], notKnown: [], problems: [] },
  notCompared: { roles: [], sources: [], remoteSchemas: [] },
};

const print = (plan: DeploymentPlan, errors = 0): string => printPlan(plan, summaryOf(plan, errors));
const textOf = (plan: DeploymentPlan, errors = 0) => summaryJson(summaryOf(plan, errors))['text'];

it('lists what was not compared only if something was not compared', () => {
  expect(print(NOTHING)).toBe('nothing to deploy\n\nplan h');
  const plan = { ...NOTHING, notCompared: { roles: ['clerk', 'guest'], sources: ['far'], remoteSchemas: ['added'] }, notes: ['so it is'] };
  expect(print(plan)).toBe(`nothing to deploy

not compared:
  roles clerk, guest: there are too many roles, or their schemas are too large
  sources far: their connection settings change, so the plan uses the tables that the service knows
  remote schemas added: they are new or their connection settings change, and a plan sends no requests to remote servers

note: so it is

plan h`);
  expect(planJson(plan, summaryOf(plan, 0))).toMatchObject({
    roles_not_compared: ['clerk', 'guest'],
    untried_sources: ['far'],
    untried_remote_schemas: ['added'],
  });
});

const added = (noun: string): DocumentChange => ({ kind: 'added', noun, object: `${noun} x`, details: [] });
const breaking = (role: string, message: string): SchemaChange => ({ role, kind: 'breaking', message });

it('counts changes by sort, and names breaking changes by the roles that they concern', () => {
  const changes = ['query', 'query', 'select permission', 'array relationship', 'insert permission', 'setting'].map(added);
  const removed = ['a', 'b', 'c', 'd', 'e'].map((column) => breaking('guest', `task.${column} was removed.`));
  const title = 'task.title was removed.';
  const mainSchemas = [
    breaking('member', title),
    breaking('owner', title),
    ...removed,
    breaking('clerk', 'A required arg by on query_root.find was added.'),
    breaking('x', 'task.id changed type from Int! to bigint!.'),
    breaking('y', 'open was removed from enum type state.'),
  ];
  const plan = { ...NOTHING, changes, mainSchemas, schemas: mainSchemas };
  expect(textOf(plan)).toBe(
    '1 relationship, 2 permissions, 2 queries, 1 setting; breaking for member, owner: `task.title` removed; for guest: `task.a` removed, `task.b` removed, `task.c` removed and 2 more; for clerk: required `query_root.find(by)` added; and 2 more for other roles',
  );
  expect(textOf({ ...NOTHING, mainSchemas: mainSchemas.slice(-2) }, 2)).toBe(
    'svc deploy would fail with 2 errors; breaking for x: `task.id` changed from `Int!` to `bigint!`; for y: `state.open` removed',
  );
});

it('lists what a person must decide before the details, with colours if there are any', () => {
  const permission = (filter: object) => ({ role: 'user', permission: { columns: ['id'], filter } });
  const change: DocumentChange = {
    kind: 'changed',
    noun: 'select permission',
    object: 'select permission user on public.task',
    role: 'user',
    access: 'changed',
    details: ['filter {"open":true} -> {}'],
    before: permission({ open: true }) as never,
    after: permission({}) as never,
  };
  const mainSchemas = [breaking('user', 'task.title was removed.')];
  const plan: DeploymentPlan = {
    ...NOTHING,
    changes: [change],
    mainSchemas,
    schemas: [...mainSchemas, breaking('user', 'task_bool_exp.title was removed.')],
    destructive: [{ file: 'migrations/default/1_a/up.sql', line: 2, what: 'drops the column title of task' }],
  };
  expect(print(plan)).toBe(`1 permission; breaking for user: \`task.title\` removed; to decide: 1 destructive statement, 1 row filter

to decide:
  destructive: migrations/default/1_a/up.sql:2: drops the column title of task
  breaking: user: task.title was removed.
  row filter: user: the row filter of the select permission user on public.task admits more rows: {"open":true} -> {}

metadata:
  ~ select permission user on public.task filter {"open":true} -> {}

access:
  user changed: select permission user on public.task (filter {"open":true} -> {})

1 derived schema change not listed: use --verbose

plan h`);
  const red = painter(true)('red', 'breaking');
  expect(printPlan(plan, summaryOf(plan, 0), { verbose: true, paint: painter(true) })).toContain(`  ${red}: user: task.title was removed.`);
  expect(printPlan(plan, summaryOf(plan, 0), { verbose: true, paint: painter(false) })).toContain(
    'schema, breaking:\n  user: task.title was removed.\n  user: task_bool_exp.title was removed.\n',
  );
  expect(summaryJson(summaryOf(plan, 0))).toMatchObject({
    counts: { permission: 1 },
    breaking: [{ roles: ['user'], changes: ['task.title was removed.'] }],
    decisions: [
      { kind: 'destructive', file: 'migrations/default/1_a/up.sql', line: 2 },
      { kind: 'breaking', roles: ['user'] },
      { kind: 'row-filter', roles: ['user'] },
    ],
    derived_schema_changes: 1,
  });
});
