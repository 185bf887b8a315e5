/** Constructs that BigQuery rejects although its engine runs them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BigQuery, hasBigQuery, startBigQuery } from './index.ts';

const CORRELATED = /^Correlated subqueries that reference other tables are not supported/;

describe.skipIf(!hasBigQuery())('the BigQuery emulator', () => {
  let bigquery: BigQuery;

  beforeAll(async () => {
    bigquery = await startBigQuery({
      datasets: { ds: {} },
      sql: `
        CREATE TABLE ds.author (id INT64 NOT NULL, name STRING, tags ARRAY<STRING>, info JSON, pair STRUCT<a INT64, b INT64>, place GEOGRAPHY);
        INSERT INTO ds.author (id, name, tags) VALUES (1, 'Ann', ['x', 'y']), (2, 'Bob', []);
        CREATE TABLE ds.article (id INT64, author_id INT64, likes INT64, info JSON, pair STRUCT<a INT64, b INT64>);
        INSERT INTO ds.article (id, author_id, likes) VALUES (1, 1, 10), (2, 1, NULL), (3, 2, 5);
        CREATE TABLE FUNCTION ds.by_author(who INT64, least INT64) AS
          SELECT id, likes FROM ds.article WHERE author_id = who AND IFNULL(likes, 0) >= least;
        CREATE VIEW ds.liked AS SELECT id, author_id FROM ds.article WHERE likes IS NOT NULL;`,
    });
  });
  afterAll(async () => {
    await bigquery?.stop();
  });

  interface Answer {
    readonly status: number;
    readonly rows: readonly (readonly unknown[])[];
    readonly message: string;
    readonly reason: string | undefined;
  }

  async function ask(query: string, more: object = {}, isReadOnly = true): Promise<Answer> {
    const answer = await fetch(`${bigquery.url}/bigquery/v2/projects/${bigquery.project}/queries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bigquery.token({ isReadOnly })}` },
      body: JSON.stringify({ query, useLegacySql: false, ...more }),
    });
    const body = (await answer.json()) as {
      readonly rows?: readonly { readonly f: readonly { readonly v: unknown }[] }[];
      readonly error?: { readonly message: string; readonly errors: readonly { readonly reason: string }[] };
    };
    return {
      status: answer.status,
      rows: (body.rows ?? []).map(({ f }) => f.map(({ v }) => v)),
      message: body.error?.message ?? '',
      reason: body.error?.errors[0]?.reason,
    };
  }
  const named = (name: string, type: string, value: string): object => ({
    queryParameters: [{ name, parameterType: { type }, parameterValue: { value } }],
  });

  test.each([
    ['a correlated value', 'SELECT (SELECT MAX(b.id) FROM ds.article AS b WHERE b.author_id = a.id) AS x FROM ds.author AS a', CORRELATED],
    ['a correlated array', 'SELECT ARRAY(SELECT b.id FROM ds.article AS b WHERE b.author_id = a.id) AS x FROM ds.author AS a', CORRELATED],
    [
      'a correlated array of a view',
      'SELECT ARRAY(SELECT b.id FROM ds.liked AS b WHERE b.author_id = a.id) AS x FROM ds.author AS a',
      CORRELATED,
    ],
    [
      'EXISTS with a limit',
      'SELECT a.id FROM ds.author AS a WHERE EXISTS (SELECT 1 FROM ds.article AS b WHERE b.author_id = a.id LIMIT 1)',
      CORRELATED,
    ],
    [
      'EXISTS without an equality',
      'SELECT a.id FROM ds.author AS a WHERE EXISTS (SELECT 1 FROM ds.article AS b WHERE b.author_id < a.id)',
      /^LEFT SEMI JOIN cannot be used without a condition that is an equality/,
    ],
    [
      'EXISTS with an equality that is only one of two ways',
      'SELECT a.id FROM ds.author AS a WHERE EXISTS (SELECT 1 FROM ds.article AS b WHERE b.author_id = a.id OR b.likes > a.id)',
      /^LEFT SEMI JOIN/,
    ],
    [
      'a left join without an equality',
      'SELECT a.id FROM ds.author AS a LEFT JOIN ds.article AS b ON b.author_id < a.id',
      /^LEFT OUTER JOIN/,
    ],
    ['a left join on nothing', 'SELECT a.id FROM ds.author AS a LEFT JOIN ds.article AS b ON TRUE', /^LEFT OUTER JOIN/],
    [
      'a full join of one side alone',
      'SELECT a.id FROM ds.author AS a FULL JOIN ds.article AS b ON b.author_id = b.id',
      /^FULL OUTER JOIN/,
    ],
    [
      'a subquery in the condition of a join',
      'SELECT a.id FROM ds.author AS a JOIN ds.article AS b ON b.author_id = a.id AND b.id IN (SELECT id FROM ds.liked)',
      /^Unsupported subquery with table in join predicate/,
    ],
    ['the order of nulls in an aggregate', 'SELECT ARRAY_AGG(id ORDER BY id NULLS LAST) AS x FROM ds.author', /^NULLS LAST not supported/],
    [
      'the usual order of nulls in an aggregate',
      'SELECT ARRAY_AGG(id ORDER BY id NULLS FIRST) AS x FROM ds.author',
      /^NULLS FIRST not supported/,
    ],
    [
      'another order of nulls in a window',
      'SELECT ROW_NUMBER() OVER (ORDER BY likes NULLS LAST) AS x FROM ds.article',
      /^NULLS LAST not supported with ascending sort order in analytic functions/,
    ],
    ['OFFSET without LIMIT', 'SELECT id FROM ds.author OFFSET 1', /^Syntax error: .* at \[1:33\]$/],
    ['JSON as a key of a group', 'SELECT info FROM ds.author GROUP BY info', /^Grouping by expressions of type JSON is not allowed/],
    [
      'a structure as a key of a group',
      'SELECT pair FROM ds.author GROUP BY pair',
      /^Grouping by expressions of type STRUCT is not allowed/,
    ],
    ['an array as a key of a group', 'SELECT tags FROM ds.author GROUP BY tags', /^Grouping by expressions of type ARRAY is not allowed/],
    [
      'a place as a key of a group',
      'SELECT place FROM ds.author GROUP BY place',
      /^Grouping by expressions of type GEOGRAPHY is not allowed/,
    ],
    ['DISTINCT with an array', 'SELECT DISTINCT tags FROM ds.author', /ARRAY/],
    [
      'a structure as the key of a window',
      'SELECT ROW_NUMBER() OVER (PARTITION BY pair) AS x FROM ds.author',
      /^Partitioning by expressions of type STRUCT/,
    ],
    [
      'JSON as a key of a join',
      'SELECT a.id FROM ds.author AS a JOIN ds.article AS b ON a.info = b.info',
      /^Equality is not defined .* JSON/,
    ],
    [
      'a structure as a key of a join',
      'SELECT a.id FROM ds.author AS a JOIN ds.article AS b ON a.pair = b.pair',
      /^Equality is not defined .* STRUCT/,
    ],
    ['arrays that are compared', 'SELECT id FROM ds.author WHERE tags = tags', /^Equality is not defined .* ARRAY/],
    ['two columns of one name', 'SELECT id, name AS ID FROM ds.author', /^Duplicate column names in the result are not supported/],
    [
      'a NULL in an array of the answer',
      'SELECT ARRAY_AGG(likes) AS likes FROM ds.article',
      /^Array cannot have a null element; error in writing field likes/,
    ],
    ['a number compared with a text', "SELECT id FROM ds.author WHERE id = '1'", /^No matching signature for operator = .* at \[1:32\]/],
    ['UNION without ALL or DISTINCT', 'SELECT 1 AS x UNION SELECT 2', /^Syntax error/],
    ['a table without its dataset', 'SELECT id FROM author', /must be qualified with a dataset/],
    [
      'LIMIT right on a table function of a column',
      'SELECT ARRAY(SELECT x.id FROM ds.by_author(a.id, 0) AS x LIMIT 1) AS x FROM ds.author AS a',
      CORRELATED,
    ],
    ['an argument of another type', "SELECT id FROM ds.by_author('1', 0)", /^No matching signature/],
    ['an argument too few', 'SELECT id FROM ds.by_author(1)', /the argument least is missing/],
    ['a parameter that is not given', 'SELECT id FROM ds.author WHERE id = @other', /^Query parameter 'other' not found at \[1:37\]/],
  ])('rejects %s', async (_, query, message) => {
    expect(await ask(query, named('unused', 'INT64', '1'))).toMatchObject({
      status: 400,
      reason: 'invalidQuery',
      message: expect.stringMatching(message),
    });
  });

  test.each([
    [
      'EXISTS with an equality',
      'SELECT a.id FROM ds.author AS a WHERE EXISTS (SELECT 1 FROM ds.article AS b WHERE b.author_id = a.id AND b.likes > 5)',
      ['1'],
    ],
    ['IN', 'SELECT a.id FROM ds.author AS a WHERE a.id IN (SELECT b.author_id FROM ds.article AS b WHERE b.likes = 5)', ['2']],
    ['correlation over an array', 'SELECT (SELECT COUNT(*) FROM UNNEST(a.tags) AS t) AS x FROM ds.author AS a ORDER BY a.id', ['2', '0']],
    ['a value that is not correlated', 'SELECT (SELECT COUNT(*) FROM ds.article) AS x FROM ds.author', ['3', '3']],
    [
      'a left join of a group',
      'SELECT g.n FROM ds.author AS a LEFT JOIN (SELECT author_id AS k, COUNT(*) AS n FROM ds.article GROUP BY k) AS g ON g.k = a.id ORDER BY a.id',
      ['2', '1'],
    ],
    [
      'the usual order of nulls in a window',
      'SELECT id FROM ds.article QUALIFY ROW_NUMBER() OVER (ORDER BY likes DESC NULLS LAST) = 3',
      ['2'],
    ],
    ['the order of nulls of a query', 'SELECT id FROM ds.article ORDER BY likes DESC NULLS FIRST', ['2', '1', '3']],
    [
      'the rows of a table function of a column, cut as an array',
      `SELECT TO_JSON_STRING(ARRAY(SELECT AS STRUCT id FROM UNNEST(ARRAY(SELECT AS STRUCT * FROM ds.by_author(least => 1, who => a.id))) ORDER BY id LIMIT 1)) AS x
       FROM ds.author AS a ORDER BY a.id`,
      ['[{"id":1}]', '[{"id":3}]'],
    ],
    [
      'names in one piece and with the project',
      'SELECT a.id FROM `svc-test.ds.author` AS a JOIN `svc-test`.ds.liked ON liked.author_id = a.id ORDER BY 1',
      ['1', '2'],
    ],
  ])('runs %s', async (_, query, expected) => {
    const { rows, message } = await ask(query);
    expect([message, rows.map(([first]) => first)]).toEqual(['', expected]);
  });

  test('rejects a non-constant limit in an aggregate and accepts it elsewhere', async () => {
    const limit = named('n', 'INT64', '1');
    expect(await ask('SELECT ARRAY_AGG(id ORDER BY id LIMIT @n) AS x FROM ds.author', limit)).toMatchObject({
      status: 400,
      reason: 'invalidQuery',
    });
    expect((await ask('SELECT id FROM ds.author ORDER BY id LIMIT @n', limit)).rows).toEqual([['1']]);
  });

  test('rejects mismatched parameters', async () => {
    const query = 'SELECT id FROM ds.author WHERE id = @p';
    expect(await ask(query, named('p', 'STRING', '1'))).toMatchObject({ status: 400, reason: 'invalidQuery' });
    expect(await ask(query, named('p', 'INT64', 'x'))).toMatchObject({ status: 400, reason: 'invalid' });
    expect(await ask(query, named('p', 'INT64', '9223372036854775808'))).toMatchObject({ status: 400, reason: 'invalid' });
    expect(await ask(query, named('p', 'NOTHING', '1'))).toMatchObject({ status: 400, reason: 'invalid' });
    const placed = { parameterType: { type: 'INT64' }, parameterValue: { value: '1' } };
    const mixed = { queryParameters: [placed, { name: 'p', ...placed }] };
    expect(await ask('SELECT id FROM ds.author WHERE id = ? OR id = @p', mixed)).toMatchObject({ status: 400, reason: 'invalidQuery' });
    const positional = { parameterMode: 'POSITIONAL', queryParameters: [placed] };
    expect((await ask('SELECT id FROM ds.author WHERE id = ?', positional)).rows).toEqual([['1']]);
    expect(await ask('SELECT id FROM ds.author WHERE id = ? AND id = @p', positional)).toMatchObject({ status: 400 });
    expect(await ask('SELECT id FROM ds.author WHERE id = ? AND id = ?', positional)).toMatchObject({
      message: expect.stringContaining('Too few'),
    });
    expect(await ask('SELECT ? AS x', { ...named('p', 'INT64', '1'), parameterMode: 'NAMED' })).toMatchObject({ status: 400 });
  });

  test('rejects writes with a read-only token', async () => {
    for (const statement of [
      'INSERT INTO ds.author (id) VALUES (9)',
      'UPDATE ds.author SET name = "x" WHERE TRUE',
      'DELETE FROM ds.author WHERE TRUE',
      'CREATE TABLE ds.other (id INT64)',
      'CREATE OR REPLACE VIEW ds.liked AS SELECT 1 AS id',
      'DROP TABLE ds.author',
      'SELECT 1; DELETE FROM ds.author WHERE TRUE',
    ]) {
      expect(await ask(statement)).toMatchObject({ status: 403, reason: 'accessDenied' });
    }
    expect((await ask('SELECT COUNT(*) FROM ds.author')).rows).toEqual([['2']]);
  });

  test('rejects unknown projects, datasets and tables', async () => {
    expect(await ask('SELECT 1 FROM other.ds.author')).toMatchObject({ status: 403, reason: 'accessDenied' });
    expect(await ask('SELECT 1 FROM nowhere.author')).toMatchObject({ status: 404, reason: 'notFound' });
    expect(await ask('SELECT 1 FROM ds.Author')).toMatchObject({
      status: 404,
      message: 'Not found: Table svc-test:ds.Author was not found in location US',
    });
    expect(await ask('SELECT 1 FROM ds.author', { location: 'EU' })).toMatchObject({ status: 404, reason: 'notFound' });
  });

  test('rejects NULL arrays and NULL array elements', async () => {
    const sql = 'INSERT INTO ds.author (id, tags) VALUES (7, NULL); SELECT TO_JSON_STRING(tags) AS x FROM ds.author WHERE id = 7';
    expect((await ask(sql, {}, false)).rows).toEqual([['[]']]);
    expect((await ask('DELETE FROM ds.author WHERE id = 7', {}, false)).status).toBe(200);
    expect(await ask("INSERT INTO ds.author (id, tags) VALUES (8, ['a', NULL])", {}, false)).toMatchObject({
      status: 400,
      message: 'Array cannot have a null element; error in writing field tags',
    });
  });

  test('rejects legacy SQL', async () => {
    expect(await ask('SELECT 1 AS x', { useLegacySql: true })).toMatchObject({ status: 400 });
  });
});
