/** Many nested upserts share statements if their keys differ, with the same result as one by one. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

const SCHEMA = `
  create table author (id serial primary key, name text not null constraint author_name_key unique, age int, revised int not null default 0);
  create table article (id serial primary key, author_id int references author, title text not null);
  create table line (article_id int references article, number int, label text, constraint line_pkey primary key (article_id, number));
  create table tag (id serial primary key, article_id int references article, label text constraint tag_label_key unique, seen int default 0);
  create index on article (author_id);
  create index on tag (article_id);
  create function revise() returns trigger language plpgsql as $$ begin new.revised = old.revised + 1; return new; end $$;
  create function tidy() returns trigger language plpgsql as $$ begin new.label = lower(new.label); return new; end $$;
  create trigger tidy before insert on tag for each row execute function tidy();
`;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(SCHEMA);
  for (const table of ['author', 'article', 'line', 'tag']) await service.metadata('pg_track_table', { table });
  const array = (table: string, name: string, of: string, column: string) =>
    service.metadata('pg_create_array_relationship', { table, name, using: { foreign_key_constraint_on: { table: of, column } } });
  await array('author', 'articles', 'article', 'author_id');
  await array('article', 'lines', 'line', 'article_id');
  await array('article', 'tags', 'tag', 'article_id');
  const object = { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } };
  await service.metadata('pg_create_object_relationship', object);
});
afterAll(() => service.stop());
beforeEach(() => service.sql('truncate author, article, line, tag restart identity'));

const INTO_ARTICLE = 'mutation ($rows: [article_insert_input!]!) { insert_article(objects: $rows) { affected_rows } }';
const send = (rows: Json) => service.graphql(INTO_ARTICLE, { variables: { rows } });
const written = (count: number) => ({ data: { insert_article: { affected_rows: count } } });
const rows = async (query: string) => ((await service.sql(query)) as { readonly result: readonly (readonly string[])[] }).result.slice(1);
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
/** Rows in groups of ten; all cases except the first use as few as are meaningful. */
const TENS = DEEP ? 1000 : 100;
const BY_NAME = { constraint: 'author_name_key', update_columns: ['name', 'age'] };
const BY_LABEL = { constraint: 'tag_label_key', update_columns: ['seen'] };
const OF_OTHERS = 'select count(*) from article left join author on author.id = author_id where name is distinct from title';
const revised = (task: () => Promise<void>): Promise<void> =>
  service
    .sql('create trigger revise before update on author for each row execute function revise()')
    .then(() => service.metadata('reload_metadata', {}))
    .then(task)
    .finally(() => service.sql('drop trigger revise on author').then(() => service.metadata('reload_metadata', {})));

describe('thousands of nested upserts', () => {
  it('may all be different', async () => {
    await service.sql("insert into author (name, age) select 'a' || i, -1 from generate_series(0, 4999) i");
    const objects = many(10_000, (i) => ({ title: `a${i}`, author: { data: { name: `a${i}`, age: i }, on_conflict: BY_NAME } }));
    expect(await send(objects)).toEqual(written(20_000));
    expect(await rows(OF_OTHERS)).toEqual([['0']]);
    expect(await rows("select count(*), count(*) filter (where name = 'a' || age) from author")).toEqual([['10000', '10000']]);
  });

  const few = (age: (index: number) => number) =>
    many(10 * TENS, (i) => ({ title: `a${i % 10}`, author: { data: { name: `a${i % 10}`, age: age(i) }, on_conflict: BY_NAME } }));

  it('may repeat ten objects', async () => {
    expect(await send(few(() => 1))).toEqual(written(20 * TENS));
    expect(await rows(OF_OTHERS)).toEqual([['0']]);
    expect(await rows('select count(*), count(distinct id) from author')).toEqual([['10', '10']]);
  });

  it('may repeat ten objects with other values: the last values win', async () => {
    expect(await send(few((i) => i))).toEqual(written(20 * TENS));
    expect(await rows(OF_OTHERS)).toEqual([['0']]);
    expect(await rows('select min(age), max(age), count(*) from author')).toEqual([[String(10 * TENS - 10), String(10 * TENS - 1), '10']]);
  });

  it('may repeat ten objects with a counting trigger', () =>
    revised(async () => {
      expect(await send(few(() => 1))).toEqual(written(20 * TENS));
      expect(await rows('select distinct revised from author')).toEqual([[String(TENS - 1)]]);
    }));

  it('are rejected as too many statements for one object with a counting trigger', () =>
    revised(async () => {
      const objects = many(2500, () => ({ title: 'a', author: { data: { name: 'a', age: 1 }, on_conflict: BY_NAME } }));
      expect(await send(objects)).toMatchObject({
        errors: [{ message: expect.stringContaining('repeat the same key'), extensions: { code: 'validation-failed' } }],
      });
      expect(await rows('select count(*) from author')).toEqual([['0']]);
    }));
});

describe('nested upserts below other rows', () => {
  it('may have the same key as their parent', async () => {
    const clause = { constraint: 'line_pkey', update_columns: ['label'] };
    const objects = many(500, (i) => ({
      title: `t${i}`,
      lines: { data: many(5, (number) => ({ number, label: `t${i}` })), on_conflict: clause },
    }));
    expect(await send(objects)).toEqual(written(3000));
    expect(await rows('select count(*) from line join article on id = article_id and title = label')).toEqual([['2500']]);
  });

  it('may update other rows of the request', async () => {
    const objects = many(600, (i) => ({
      title: `t${i}`,
      tags: { data: [{ label: `l${i}`, seen: i }, ...(i % 3 === 2 ? [{ label: `l${i - 1}`, seen: -i }] : [])], on_conflict: BY_LABEL },
    }));
    expect(await send(objects)).toEqual(written(1400));
    expect(await rows('select count(*), count(*) filter (where seen < 0) from tag')).toEqual([['600', '200']]);
    expect(await rows("select count(*) from tag join article on article.id = article_id where label <> replace(title, 't', 'l')")).toEqual([
      ['0'],
    ]);
  });

  it('may be equal for the database alone', async () => {
    const objects = many(200, (i) => ({
      title: `t${i}`,
      tags: { data: [{ label: i % 2 ? `L${i - 1}` : `l${i}`, seen: i }], on_conflict: BY_LABEL },
    }));
    expect(await send(objects)).toEqual(written(400));
    expect(await rows('select count(*), sum(seen) from tag')).toEqual([['100', String(100 * 100)]]);
  });

  it('may share a value of an object that occurs again', async () => {
    const objects = many(400, (i) => ({
      title: `a${i % 4}`,
      author: { data: { name: `a${i % 4}`, age: i, articles: { data: [{ title: `a${i % 4}` }] } }, on_conflict: BY_NAME },
    }));
    expect(await send(objects)).toEqual(written(1200));
    expect(await rows(OF_OTHERS)).toEqual([['0']]);
    expect(await rows('select count(*) from author')).toEqual([['4']]);
  });
});

it('are returned in the order of the request', async () => {
  const query = `mutation ($rows: [author_insert_input!]!) {
    insert_author(objects: $rows, on_conflict: {constraint: author_name_key, update_columns: [age]}) { returning { name articles { title } } } }`;
  const objects = many(60, (i) => ({ name: `a${i % 40}`, age: i, articles: { data: [{ title: `t${i}` }] } }));
  const answer = (await service.graphql(query, { variables: { rows: objects } })) as {
    readonly data: { readonly insert_author: { readonly returning: readonly { readonly name: string }[] } };
  };
  expect(answer.data.insert_author.returning.map(({ name }) => name)).toEqual(objects.map(({ name }) => name));
});
