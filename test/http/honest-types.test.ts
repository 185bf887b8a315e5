/** A non-null type is never answered with null, whatever the role, the keys and the inheriting tables. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

const SCHEMA = `
  create table person (id int primary key, name text not null, public boolean not null);
  insert into person values (1, 'Ann', true), (2, 'Bob', false);
  create table vault (id int primary key);
  insert into vault values (1);
  alter table vault enable row level security;
  create table ticket (
    id int primary key, reporter_id int not null references person, editor_id int references person,
    late_id int not null references person deferrable initially deferred,
    legacy_id int not null, vault_id int not null references vault);
  insert into ticket values (1, 1, 1, 1, 99, 1), (2, 2, null, 2, 1, 1);
  set constraints all immediate;
  alter table ticket add constraint legacy foreign key (legacy_id) references person not valid;
  create table badge (id int primary key, person_id int not null unique references person);

  create table animal (id int primary key, name text not null, owner_id int not null references person);
  create table dog (primary key (id)) inherits (animal);
  -- From version 18 on the constraint has to stop being inherited first.
  do $$ begin
    if current_setting('server_version_num')::int >= 180000 then
      alter table animal alter constraint animal_name_not_null no inherit;
    end if;
  end $$;
  alter table dog alter column name drop not null;
  insert into animal values (1, 'Tom', 1);
  insert into dog values (2, null, 77), (1, 'Rex', 1);
  create table visit (id int primary key, animal_id int not null references animal);
  insert into visit values (10, 1), (11, 1);

  create table note (at date not null, id int not null, person_id int not null references person, primary key (at, id)) partition by range (at);
  create table note_1 partition of note for values from ('2020-01-01') to ('2021-01-01');
  insert into note values ('2020-02-03', 1, 2);

  create domain word as text not null;
  create table page (id int primary key, title word);
  insert into page values (1, 'one');
  create view page_view as select i.id, p.title from generate_series(1, 2) i (id) left join page p using (id);
`;

const key = (column: string): JsonObject => ({ foreign_key_constraint_on: column });

beforeAll(async () => {
  service = await startTestService();
  await service.sql(SCHEMA);
  for (const table of ['person', 'vault', 'ticket', 'badge', 'animal', 'visit', 'note', 'page_view'])
    await service.metadata('pg_track_table', { table });
  for (const [table, name, using] of [
    ['ticket', 'reporter', key('reporter_id')],
    ['ticket', 'editor', key('editor_id')],
    ['ticket', 'late', key('late_id')],
    ['ticket', 'legacy', key('legacy_id')],
    ['ticket', 'vault', key('vault_id')],
    ['ticket', 'by_hand', { manual_configuration: { remote_table: 'person', column_mapping: { reporter_id: 'id' } } }],
    ['person', 'badge', { foreign_key_constraint_on: { table: 'badge', column: 'person_id' } }],
    ['animal', 'owner', key('owner_id')],
    ['visit', 'animal', key('animal_id')],
    ['note', 'person', key('person_id')],
  ] as const) {
    await service.metadata('pg_create_object_relationship', { table, name, using });
  }
  const select = (table: string, role: string, permission: JsonObject): Promise<Json> =>
    service.metadata('pg_create_select_permission', { table, role, permission: { columns: '*', ...permission } });
  for (const role of ['all', 'some', 'none', 'loose']) await select('ticket', role, { filter: {} });
  await select('person', 'all', { filter: {} });
  await select('person', 'some', { filter: { public: { _eq: true } } });
  await select('person', 'none', { filter: {}, limit: 0 });
  await select('person', 'loose', { filter: { _and: [] }, limit: 5 });
  await service.metadata('add_inherited_role', { role_name: 'both', role_set: ['all', 'some'] });
});
afterAll(() => service.stop());

async function nonNull(type: string, role = 'admin'): Promise<readonly string[]> {
  const answer = await service.graphql(`{ __type(name: "${type}") { fields { name type { kind } } } }`, { role });
  const { fields } = (answer['data'] as { __type: { fields: readonly { name: string; type: { kind: string } }[] } }).__type;
  return fields.filter(({ type: { kind } }) => kind === 'NON_NULL').map(({ name }) => name);
}

describe('a non-null object relationship', () => {
  const columns = ['id', 'late_id', 'legacy_id', 'reporter_id', 'vault_id'];
  const always = ['late', 'reporter'];

  it('requires a validated foreign key on non-null columns to a table without row security', async () => {
    expect(await nonNull('ticket')).toEqual([...columns, ...always].sort());
    expect(await nonNull('person')).toEqual(['id', 'name', 'public']);
    expect(await nonNull('note')).toContain('person');
  });

  it.each([
    ['all', always],
    ['loose', always],
    ['both', always],
    ['some', []],
    ['none', []],
  ])('requires that role %s sees every row of the target', async (role, relationships) => {
    expect(await nonNull('ticket', role)).toEqual([...columns, ...relationships].sort());
  });

  it('is nullable otherwise, and null occurs', async () => {
    expect(await service.graphql('{ ticket(order_by: {id: asc}) { reporter { name } } }', { role: 'some' })).toEqual({
      data: { ticket: [{ reporter: { name: 'Ann' } }, { reporter: null }] },
    });
    expect(await service.graphql('{ ticket(order_by: {id: asc}) { legacy { name } } }')).toEqual({
      data: { ticket: [{ legacy: null }, { legacy: { name: 'Ann' } }] },
    });
  });

  it('exists once the key is validated, and until the target has policies', async () => {
    await service.sql('delete from ticket where id = 1; alter table ticket validate constraint legacy');
    expect(await nonNull('ticket')).toContain('legacy');
    await service.sql('alter table person enable row level security');
    const now = await nonNull('ticket');
    await service.sql('alter table person disable row level security');
    expect(now).toEqual(columns);
    expect(await nonNull('ticket')).toContain('legacy');
  });
});

it('is nullable if inheriting tables do not enforce the key', async () => {
  // The owner of a dog may be missing, and its name too.
  expect(await nonNull('animal')).toEqual(['id', 'owner_id']);
  expect(await service.graphql('{ animal(order_by: [{id: asc}, {name: asc}]) { name owner { name } } }')).toEqual({
    data: {
      animal: [
        { name: 'Rex', owner: { name: 'Ann' } },
        { name: 'Tom', owner: { name: 'Ann' } },
        { name: null, owner: null },
      ],
    },
  });
  expect(await nonNull('visit')).toContain('animal');
});

it('returns each row once if its key occurs twice in an inheriting table', async () => {
  expect(await service.graphql('{ visit(order_by: {id: asc}) { id animal { id } } }')).toEqual({
    data: { visit: [10, 11].map((id) => ({ id, animal: { id: 1 } })) },
  });
  expect(await service.graphql('{ visit(where: {animal: {name: {_in: ["Tom", "Rex"]}}}, order_by: {id: asc}) { id } }')).toEqual({
    data: { visit: [{ id: 10 }, { id: 11 }] },
  });
});

it('returns one of the rows if a key occurs twice in an inheriting table', async () => {
  const update = (more: string): Promise<JsonObject> =>
    service.graphql(`mutation { update_animal_by_pk(pk_columns: {id: 1}, _set: {owner_id: 1}) { id ${more} } }`);
  expect(await update('')).toEqual({ data: { update_animal_by_pk: { id: 1 } } });
  expect(await update('owner { name }')).toEqual({ data: { update_animal_by_pk: { id: 1, owner: { name: 'Ann' } } } });
});

it('treats the not-null constraint of a domain as nullable', async () => {
  expect(await nonNull('page_view')).toEqual([]);
  expect(await service.graphql('{ page_view(order_by: {id: asc}) { title } }')).toEqual({
    data: { page_view: [{ title: 'one' }, { title: null }] },
  });
});
