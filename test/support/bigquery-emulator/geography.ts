/**
 * Geographies. The engine has the names of their functions but no implementation, so the analyzed statement is evaluated on text
 * instead: a geography is its GeoJSON with sorted keys, and the functions become expressions over it. Areas are planar, distances
 * spherical.
 */
import type { Engine, EngineTable, Parameters, Tree } from './engine.ts';
import { invalidQuery } from './errors.ts';
import { applied, type Edit, found, rangeOf } from './names.ts';

const TEXT: Tree = { typeKind: 'TYPE_STRING' };

/** A type with geographies replaced by text. */
function withoutPlaces(type: Tree): Tree {
  switch (type['typeKind']) {
    case 'TYPE_GEOGRAPHY':
      return TEXT;
    case 'TYPE_ARRAY':
      return { ...type, arrayType: { elementType: withoutPlaces((type['arrayType'] as Tree)['elementType'] as Tree) } };
    case 'TYPE_STRUCT': {
      const fields = ((type['structType'] as Tree)['field'] ?? []) as readonly Tree[];
      return {
        ...type,
        structType: { field: fields.map((field) => ({ ...field, fieldType: withoutPlaces(field['fieldType'] as Tree) })) },
      };
    }
    default:
      return type;
  }
}

/** @returns the same text if there are no geographies */
export function tablesWithoutPlaces(tables: readonly EngineTable[]): readonly EngineTable[] {
  const hasPlaces = tables.some(({ columns }) => JSON.stringify(columns).includes('TYPE_GEOGRAPHY'));
  if (!hasPlaces) return tables;
  return tables.map((table) => ({
    ...table,
    columns: table.columns.map((column) => ({ ...column, type: withoutPlaces(column['type'] as Tree) })),
  }));
}

export function parametersWithoutPlaces(parameters: Parameters): Parameters {
  return { ...parameters, list: parameters.list.map((parameter) => ({ ...parameter, type: withoutPlaces(parameter.type) })) };
}

const FIRST = '_g[OFFSET(0)]';
const SECOND = '_g[OFFSET(1)]';
const THIRD = '_g[OFFSET(2)]';

const kindOf = (place: string): string => `JSON_VALUE(${place}, '$.type')`;
const isPoint = (place: string): string => `${kindOf(place)} = 'Point'`;
const number = (json: string, path: string): string => `CAST(JSON_VALUE(${json}, '${path}') AS FLOAT64)`;
const longitude = (point: string): string => number(point, '$.coordinates[0]');
const latitude = (point: string): string => number(point, '$.coordinates[1]');
const unknown = (name: string): string => `ERROR('the emulator knows ${name} of points and of polygons without holes only')`;

/** JSON with sorted keys and integers without a fraction. */
const tidy = (json: string): string =>
  `REGEXP_REPLACE(TO_JSON_STRING(PARSE_JSON(${json}, wide_number_mode => 'round')), r'(\\d)\\.0\\b', r'\\1')`.replaceAll('\\\\', '\\');

const KINDS = "'Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon', 'GeometryCollection'";

/** An aggregate over the sides of a polygon, from x1, y1 to x2, y2, and the point px, py. */
function ofSides(polygon: string, point: string, value: string): string {
  const corners = `JSON_QUERY_ARRAY(${polygon}, '$.coordinates[0]')`;
  return `(SELECT ${value} FROM (
    SELECT ${number('_a', '$[0]')} AS x1, ${number('_a', '$[1]')} AS y1, ${number('_b', '$[0]')} AS x2, ${number('_b', '$[1]')} AS y2,
      ${longitude(point)} AS px, ${latitude(point)} AS py
    FROM UNNEST(${corners}) AS _a WITH OFFSET AS _i JOIN UNNEST(${corners}) AS _b WITH OFFSET AS _j ON _j = _i + 1))`;
}

const isInside = (polygon: string, point: string): string =>
  ofSides(polygon, point, 'MOD(COUNTIF((y1 > py) != (y2 > py) AND px < SAFE_DIVIDE((x2 - x1) * (py - y1), y2 - y1) + x1), 2) = 1');
const isOnBorder = (polygon: string, point: string): string =>
  ofSides(
    polygon,
    point,
    `COUNTIF((x2 - x1) * (py - y1) = (y2 - y1) * (px - x1) AND px BETWEEN LEAST(x1, x2) AND GREATEST(x1, x2)
       AND py BETWEEN LEAST(y1, y2) AND GREATEST(y1, y2)) > 0`,
  );
const isPolygon = (place: string): string =>
  `(${kindOf(place)} = 'Polygon' AND ARRAY_LENGTH(JSON_QUERY_ARRAY(${place}, '$.coordinates')) = 1)`;

const contains = (whole: string, part: string): string => `CASE
  WHEN ${whole} IS NULL OR ${part} IS NULL THEN NULL
  WHEN ${isPoint(whole)} AND ${isPoint(part)} THEN ${whole} = ${part}
  WHEN ${isPoint(whole)} THEN FALSE
  WHEN ${isPolygon(whole)} AND ${isPoint(part)} THEN ${isInside(whole, part)} AND NOT ${isOnBorder(whole, part)}
  ELSE ${unknown('containment')} END`;

/** For points and polygons: whether they share a point, and whether they share only their borders. */
const meets = (onlyBorders: boolean): string => {
  const both = (polygon: string, point: string): string =>
    onlyBorders ? isOnBorder(polygon, point) : `${isInside(polygon, point)} OR ${isOnBorder(polygon, point)}`;
  return `CASE
  WHEN ${FIRST} IS NULL OR ${SECOND} IS NULL THEN NULL
  WHEN ${isPoint(FIRST)} AND ${isPoint(SECOND)} THEN ${onlyBorders ? 'FALSE' : `${FIRST} = ${SECOND}`}
  WHEN ${isPolygon(FIRST)} AND ${isPoint(SECOND)} THEN ${both(FIRST, SECOND)}
  WHEN ${isPoint(FIRST)} AND ${isPolygon(SECOND)} THEN ${both(SECOND, FIRST)}
  WHEN ${FIRST} = ${SECOND} THEN ${onlyBorders ? 'FALSE' : 'TRUE'}
  ELSE ${unknown('intersections')} END`;
};

const radians = (degrees: string): string => `(${degrees} * ACOS(-1) / 180)`;
const half = (a: string, b: string): string => `POW(SIN(${radians(`(${b} - ${a})`)} / 2), 2)`;
/** Distance on a sphere with a radius of 6371008.8 m. */
const DISTANCE = `CASE
  WHEN ${FIRST} IS NULL OR ${SECOND} IS NULL THEN NULL
  WHEN ${isPoint(FIRST)} AND ${isPoint(SECOND)} THEN 2 * 6371008.8 * ASIN(LEAST(1, SQRT(${half(latitude(FIRST), latitude(SECOND))}
    + COS(${radians(latitude(FIRST))}) * COS(${radians(latitude(SECOND))}) * ${half(longitude(FIRST), longitude(SECOND))})))
  ELSE ${unknown('distances')} END`;

/** Expressions over the arguments, which are a struct `_g`. */
const FUNCTIONS: Readonly<Record<string, { readonly arguments: number; readonly body: string }>> = {
  st_geogfromgeojson: {
    arguments: 1,
    body: `IF(${FIRST} IS NULL OR ${kindOf(FIRST)} IN (${KINDS}), ${tidy(FIRST)}, ERROR('ST_GeogFromGeoJSON failed: Invalid GeoJSON'))`,
  },
  st_geogpoint: {
    arguments: 2,
    body: `CONCAT('{"coordinates":', TO_JSON_STRING([CAST(${FIRST} AS FLOAT64), CAST(${SECOND} AS FLOAT64)]), ',"type":"Point"}')`,
  },
  st_asgeojson: {
    arguments: 1,
    body: `CONCAT('{ "type": "', ${kindOf(FIRST)}, '", "', IF(${kindOf(FIRST)} = 'GeometryCollection', 'geometries', 'coordinates'), '": ',
      REPLACE(COALESCE(JSON_QUERY(${FIRST}, '$.coordinates'), JSON_QUERY(${FIRST}, '$.geometries')), ',', ', '), ' } ')`,
  },
  st_astext: {
    arguments: 1,
    body: `IF(${FIRST} IS NULL OR ${isPoint(FIRST)}, CONCAT('POINT(', JSON_VALUE(${FIRST}, '$.coordinates[0]'), ' ', JSON_VALUE(${FIRST}, '$.coordinates[1]'), ')'), ${unknown('the text')})`,
  },
  st_x: { arguments: 1, body: longitude(FIRST) },
  st_y: { arguments: 1, body: latitude(FIRST) },
  st_equals: { arguments: 2, body: `${FIRST} = ${SECOND}` },
  st_distance: { arguments: 2, body: DISTANCE },
  st_dwithin: { arguments: 3, body: `${DISTANCE} <= ${THIRD}` },
  st_contains: { arguments: 2, body: contains(FIRST, SECOND) },
  st_within: { arguments: 2, body: contains(SECOND, FIRST) },
  st_intersects: { arguments: 2, body: meets(false) },
  st_disjoint: { arguments: 2, body: `NOT ${meets(false)}` },
  st_touches: { arguments: 2, body: meets(true) },
};

/** Rewrites an analyzed statement for evaluation on text. @throws ApiError for unsupported geography functions */
export async function withoutPlacesIn(engine: Engine, sql: string): Promise<string> {
  if (!/\bst_|geography/i.test(sql)) return sql;
  const { statement } = await engine.parse(sql);
  const edits: Edit[] = [];
  for (const { node } of found(statement, ['astFunctionCallNode'])) {
    const path = node['function'] as Tree;
    const names = ((path['names'] ?? []) as readonly Tree[]).map((name) => String(name['idString']));
    const name = (names[0] ?? '').toLowerCase();
    if (names.length !== 1 || !name.startsWith('st_')) continue;
    const known = FUNCTIONS[name];
    const given = (node['arguments'] ?? []) as readonly Tree[];
    if (name === 'st_geogfromtext' && given.length === 1) {
      edits.push(fromText(node, given[0] as Tree));
      continue;
    }
    if (known === undefined || known.arguments !== given.length) {
      throw invalidQuery(`The emulator does not know the function ${name} with ${given.length} arguments`);
    }
    const { end } = rangeOf(node);
    edits.push({ ...rangeOf(path), text: 'WITH(_g AS STRUCT' }, { start: end, end, text: `, ${known.body})` });
  }
  for (const { node } of found(statement, ['astSimpleTypeNode'])) {
    const path = node['typeName'] as Tree;
    const names = ((path['names'] ?? []) as readonly Tree[]).map((name) => String(name['idString']).toUpperCase());
    if (names.length === 1 && names[0] === 'GEOGRAPHY') edits.push({ ...rangeOf(path), text: 'STRING' });
  }
  return applied(
    sql,
    edits.sort((a, b) => a.start - b.start),
  ).text;
}

function fromText(node: Tree, argument: Tree): Edit {
  const literal = (argument['astLeafNode'] as Tree | undefined)?.['astStringLiteralNode'] as Tree | undefined;
  const text = literal?.['stringValue'] ?? literal?.['image'];
  if (typeof text !== 'string') throw invalidQuery('The emulator knows st_geogfromtext of a literal only');
  return { ...rangeOf(node), text: `'${placeOfText(text.replace(/^['"]|['"]$/g, ''))}'` };
}

type Coordinates = number | readonly Coordinates[];

const NAMES: Readonly<Record<string, string>> = {
  POINT: 'Point',
  LINESTRING: 'LineString',
  POLYGON: 'Polygon',
  MULTIPOINT: 'MultiPoint',
  MULTILINESTRING: 'MultiLineString',
  MULTIPOLYGON: 'MultiPolygon',
};

/** Parses WKT or GeoJSON into the text form of a geography. @throws Error for any other text */
export function placeOfText(text: string): string {
  if (text.trim().startsWith('{')) {
    const { type, coordinates } = JSON.parse(text) as { readonly type?: string; readonly coordinates?: Coordinates };
    if (type === undefined || coordinates === undefined || !Object.values(NAMES).includes(type))
      throw new Error(`Invalid GeoJSON: ${text}`);
    return JSON.stringify({ coordinates, type });
  }
  const match = /^\s*([A-Z]+)\s*(\(.*\))\s*$/is.exec(text);
  const type = NAMES[(match?.[1] ?? '').toUpperCase()];
  if (match === null || type === undefined) throw new Error(`Invalid WKT: ${text}`);
  const json = (match[2] ?? '')
    .replace(/(-?[\d.]+(?:e[+-]?\d+)?)\s+(-?[\d.]+(?:e[+-]?\d+)?)/gi, '[$1,$2]')
    .replaceAll('(', '[')
    .replaceAll(')', ']')
    .replaceAll(/\s/g, '');
  const list = JSON.parse(json) as readonly Coordinates[];
  // A point has one pair of parentheses too many, and multipoints may have some.
  const coordinates = type === 'Point' ? list[0] : type === 'MultiPoint' ? list.map((one) => flat(one)) : list;
  return JSON.stringify({ coordinates, type });
}

function flat(point: Coordinates): Coordinates {
  return Array.isArray(point) && point.length === 1 ? (point[0] as Coordinates) : point;
}

/** WKT of the text form of a geography. */
export function textOfPlace(place: string): string {
  const { type, coordinates } = JSON.parse(place) as { readonly type: string; readonly coordinates: Coordinates };
  const written = (value: Coordinates): string => {
    if (!Array.isArray(value)) return String(value);
    if (typeof value[0] === 'number') return value.join(' ');
    return `(${(value as readonly Coordinates[]).map(written).join(', ')})`;
  };
  return type === 'Point' ? `POINT(${written(coordinates)})` : `${type.toUpperCase()}${written(coordinates)}`;
}
