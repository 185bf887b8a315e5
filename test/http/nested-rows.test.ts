/** Many nested rows in one mutation: the limit, the matching of parents and children, and the reported row. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

const SCHEMA = `
  create table author (id serial primary key, name text not null constraint author_name_key unique, age int);
  create table article (
    id int generated always as identity primary key, author_id int references author, title text not null, views int not null default 7);
  create table tag (id uuid primary key default gen_random_uuid(), article_id int references article on delete cascade, label text);
  create index on article (author_id);
  create index on tag (article_id);
`;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(SCHEMA);
  for (const table of ['author', 'article', 'tag']) await service.metadata('pg_track_table', { table });
  const array = (table: string, name: string, of: string, column: string) =>
    service.metadata('pg_create_array_relationship', { table, name, using: { foreign_key_constraint_on: { table: of, column } } });
  await array('author', 'articles', 'article', 'author_id');
  await array('article', 'tags', 'tag', 'article_id');
  await service.metadata('pg_create_object_relationship', {
    table: 'article',
    name: 'author',
    using: { foreign_key_constraint_on: 'author_id' },
  });
});
afterAll(() => service.stop());
beforeEach(() => service.sql('truncate author, article, tag restart identity'));

const INTO_AUTHOR = 'mutation ($rows: [author_insert_input!]!) { insert_author(objects: $rows) { affected_rows } }';
const INTO_ARTICLE = 'mutation ($rows: [article_insert_input!]!) { insert_article(objects: $rows) { affected_rows } }';
const send = (query: string, rows: Json) => service.graphql(query, { variables: { rows } });
const rows = async (query: string) => ((await service.sql(query)) as { readonly result: readonly (readonly string[])[] }).result.slice(1);
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe('many nested rows', () => {
  const tree = (columns: (index: number) => object = () => ({})) =>
    many(400, (i) => ({
      name: `a${i}`,
      articles: {
        data: many(5, (k) => ({ title: `a${i}.${k}`, ...columns(k), tags: { data: many(4, (n) => ({ label: `a${i}.${k}.${n}` })) } })),
      },
    }));
  const LOST = `select
    (select count(*) from article join author on author.id = author_id and title like name || '.%'),
    (select count(*) from tag join article on article.id = article_id and label like title || '.%')`;

  const LOST_TAGS = "select count(*) from tag join article on article.id = article_id where label not like title || '.%'";

  it('of three levels are each attached to their parent', async () => {
    expect(await send(INTO_AUTHOR, tree())).toEqual({ data: { insert_author: { affected_rows: 10_400 } } });
    expect(await rows(LOST)).toEqual([['2000', '8000']]);
  });

  it.runIf(DEEP)('may have different columns, with defaults for the rest', async () => {
    expect(
      await send(
        INTO_AUTHOR,
        tree((k) => (k % 2 === 0 ? {} : { views: k })),
      ),
    ).toEqual({
      data: { insert_author: { affected_rows: 10_400 } },
    });
    expect(await rows(LOST)).toEqual([['2000', '8000']]);
    expect(await rows('select views, count(*) from article group by 1 order by 1')).toEqual([
      ['1', '400'],
      ['3', '400'],
      ['7', '1200'],
    ]);
  });

  it.runIf(DEEP)('may each depend on an object', async () => {
    const objects = many(5000, (i) => ({ title: `a${i}.`, author: { data: { name: `a${i}` } } }));
    expect(await send(INTO_ARTICLE, objects)).toEqual({ data: { insert_article: { affected_rows: 10_000 } } });
    expect(await rows(LOST)).toEqual([['5000', '0']]);
    // Rows are written in the order of the request.
    expect(await rows('select count(*) from article where id <> author_id')).toEqual([['0']]);
  });

  it.runIf(DEEP)('may each have an on_conflict clause that skips existing rows', async () => {
    const onConflict = { constraint: 'tag_pkey', update_columns: [] };
    const id = (number: number): string => `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`;
    // The first tag of each article except the first exists already, through the previous article.
    const objects = many(2000, (i) => ({
      title: `t${i}`,
      tags: { data: many(5, (k) => ({ id: id(4 * i + k), label: `t${i}.${k}` })), on_conflict: onConflict },
    }));
    expect(await send(INTO_ARTICLE, objects)).toEqual({ data: { insert_article: { affected_rows: 2000 + 8001 } } });
    expect(await rows(LOST_TAGS)).toEqual([['0']]);
  });

  it.runIf(DEEP)('may each depend on an object with such a clause, which must be new', async () => {
    const onConflict = { constraint: 'author_name_key', update_columns: [] };
    const objects = many(2000, (i) => ({ title: `a${i}.`, author: { data: { name: `a${i}` }, on_conflict: onConflict } }));
    await service.sql("insert into author (name) values ('a1234')");
    expect(await send(INTO_ARTICLE, objects)).toMatchObject({
      errors: [{ extensions: { path: '$.selectionSet.insert_article.args.objects[1234].author', code: 'not-supported' } }],
    });
    expect(await rows('select count(*) from article')).toEqual([['0']]);
    await service.sql('delete from author');
    expect(await send(INTO_ARTICLE, objects)).toEqual({ data: { insert_article: { affected_rows: 4000 } } });
    expect(await rows(LOST)).toEqual([['2000', '0']]);
  });

  it('may belong to few parents', async () => {
    const objects = many(3, (i) => ({ name: `a${i}`, articles: { data: many(3000, (k) => ({ title: `a${i}.${k}`, views: k })) } }));
    expect(await send(INTO_AUTHOR, objects)).toEqual({ data: { insert_author: { affected_rows: 9_003 } } });
    expect(await rows(LOST)).toEqual([['9000', '0']]);
  });
});

describe('the error for several invalid rows', () => {
  const pathOf = async (query: string, objects: Json) => {
    const answer = (await send(query, objects)) as { readonly errors: readonly { readonly extensions: { readonly path: string } }[] };
    return answer.errors[0]?.extensions.path;
  };

  it('names the first one, whichever column is invalid', async () => {
    const objects: Json[] = many(60, (i) => ({ name: `a${i}`, age: i }));
    objects[50] = { name: null, age: 1 };
    objects[40] = { name: 'x', age: [] };
    expect(await pathOf(INTO_AUTHOR, objects)).toBe('$.selectionSet.insert_author.args.objects[40].age');
    objects[30] = { name: null, age: 1 };
    expect(await pathOf(INTO_AUTHOR, objects)).toBe('$.selectionSet.insert_author.args.objects[30].name');
  });

  it('names the first one among nested rows', async () => {
    const objects = (wrong: readonly string[]) =>
      many(20, (i) => ({
        name: `a${i}`,
        articles: { data: many(3, (k) => ({ title: 't', views: wrong.includes(`${i}.${k}`) ? [] : k })) },
      }));
    const at = '$.selectionSet.insert_author.args.objects';
    expect(await pathOf(INTO_AUTHOR, objects(['17.0', '11.2']))).toBe(`${at}[11].articles.data[2].views`);
    expect(await pathOf(INTO_AUTHOR, objects(['17.0', '11.2']).slice(10, 12))).toBe(`${at}[1].articles.data[2].views`);
  });
});
