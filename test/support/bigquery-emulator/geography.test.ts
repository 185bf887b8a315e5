/** Geographies: the engine has only the names of their functions. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BigQuery, hasBigQuery, startBigQuery } from './index.ts';

describe.skipIf(!hasBigQuery())('geographies in the BigQuery emulator', () => {
  let bigquery: BigQuery;

  beforeAll(async () => {
    bigquery = await startBigQuery({
      datasets: {
        map: {
          spot: {
            fields: [
              { name: 'id', type: 'INTEGER' },
              { name: 'at', type: 'GEOGRAPHY' },
            ],
            rows: [
              { id: 1, at: 'POINT(1 2)' },
              { id: 2, at: '{"type": "Point", "coordinates": [5, 5]}' },
              { id: 3, at: null },
            ],
          },
        },
      },
      sql: `
        CREATE TABLE map.area (id INT64, shape GEOGRAPHY);
        INSERT INTO map.area VALUES (1, ST_GEOGFROMTEXT('POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))')), (2, NULL);
        UPDATE map.area SET shape = ST_GEOGFROMGEOJSON('{"type":"Polygon","coordinates":[[[4,4],[8,4],[8,8],[4.0,8],[4,4]]]}') WHERE id = 2;`,
    });
  });
  afterAll(async () => {
    await bigquery?.stop();
  });

  async function values(query: string, parameters: Readonly<Record<string, string>> = {}): Promise<readonly unknown[] | string> {
    const answer = await fetch(`${bigquery.url}/bigquery/v2/projects/${bigquery.project}/queries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bigquery.token()}` },
      body: JSON.stringify({
        query,
        useLegacySql: false,
        queryParameters: Object.entries(parameters).map(([name, value]) => ({
          name,
          parameterType: { type: 'STRING' },
          parameterValue: { value },
        })),
      }),
    });
    const body = (await answer.json()) as {
      readonly rows?: readonly { readonly f: readonly { readonly v: unknown }[] }[];
      readonly error?: { readonly message: string };
    };
    return body.error?.message ?? (body.rows ?? []).flatMap(({ f }) => f.map(({ v }) => v));
  }

  test('returns geographies as WKT and as GeoJSON', async () => {
    expect(await values('SELECT `at` FROM map.spot ORDER BY id')).toEqual(['POINT(1 2)', 'POINT(5 5)', null]);
    expect(await values('SELECT shape FROM map.area ORDER BY id')).toEqual([
      'POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))',
      'POLYGON((4 4, 8 4, 8 8, 4 8, 4 4))',
    ]);
    expect(await values('SELECT ST_ASGEOJSON(`at`) FROM map.spot ORDER BY id')).toEqual([
      '{ "type": "Point", "coordinates": [1, 2] } ',
      '{ "type": "Point", "coordinates": [5, 5] } ',
      null,
    ]);
  });

  test.each([
    ['ST_CONTAINS(a.shape, s.`at`)', ['1-1', '2-2']],
    ['ST_WITHIN(s.`at`, a.shape)', ['1-1', '2-2']],
    ['ST_INTERSECTS(s.`at`, a.shape)', ['1-1', '2-2']],
    ['ST_TOUCHES(a.shape, ST_GEOGFROMGEOJSON(@corner)) AND s.id = 1', ['1-1', '2-1']],
    ['ST_EQUALS(s.`at`, ST_GEOGPOINT(1.0, 2)) AND a.id = 1', ['1-1']],
    ['ST_DWITHIN(s.`at`, ST_GEOGFROMTEXT("POINT(1 2.001)"), 112) AND a.id = 1', ['1-1']],
    ['ST_DWITHIN(s.`at`, ST_GEOGFROMTEXT("POINT(1 2.001)"), 111) AND a.id = 1', []],
  ])('evaluates %s', async (condition, expected) => {
    const sql = `SELECT CONCAT(a.id, '-', s.id) AS x FROM map.area AS a CROSS JOIN map.spot AS s WHERE ${condition} ORDER BY 1`;
    expect(await values(sql, { corner: '{"coordinates": [4, 4], "type": "Point"}' })).toEqual(expected);
  });

  test('rejects operations that geographies do not support', async () => {
    expect(await values('SELECT `at` FROM map.spot GROUP BY 1')).toMatch(/^Grouping by expressions of type GEOGRAPHY is not allowed/);
    expect(await values("SELECT id FROM map.spot WHERE `at` = 'POINT(1 2)'")).toMatch(/GEOGRAPHY/);
    expect(await values("SELECT ST_GEOGFROMGEOJSON('nonsense') AS x")).toMatch(/./);
    expect(await values('SELECT ST_AREA(shape) AS x FROM map.area')).toMatch(/does not know the function st_area/);
  });
});
