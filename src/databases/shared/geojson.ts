/**
 * Checks of GeoJSON geometry objects (RFC 7946, and the older `crs` member), whose messages are clearer than those of databases.
 */
import { parseFailed, wrongType } from '../../metadata/codec.ts';
import { isJsonArray, isJsonNumber, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';

type Check = (json: Json, path: Path) => void;

/** @throws SvcError parse-failed */
export function checkGeoJson(json: Json, path: Path): void {
  if (!isJsonObject(json)) throw wrongType('Geometry', 'Object', json, path);
  const type = member(json, 'type', path);
  if (typeof type !== 'string') throw wrongType('Text', 'String', type, at(path, 'type'));
  if (type === 'GeometryCollection') {
    listOf(checkGeoJson)(member(json, 'geometries', path), at(path, 'geometries'));
    return;
  }
  const check = Object.hasOwn(COORDINATES, type) ? COORDINATES[type] : undefined;
  if (check === undefined) throw parseFailed(`unexpected geometry type: ${type}`, path);
  check(member(json, 'coordinates', path), at(path, 'coordinates'));
}

function member(object: JsonObject, key: string, path: Path): Json {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  if (value === undefined) throw parseFailed(`the key '${key}' was not present`, path);
  return value;
}

function listOf(item: Check): Check {
  return (json, path) => {
    for (const [i, x] of items(json, path).entries()) item(x, at(path, i));
  };
}

function items(json: Json, path: Path): readonly Json[] {
  if (!isJsonArray(json)) throw wrongType('[]', 'Array', json, path);
  return json;
}

const position: Check = (json, path) => {
  const numbers = items(json, path);
  if (numbers.length < 2) throw parseFailed('A Position needs at least 2 elements', path);
  for (const [i, x] of numbers.entries()) if (!isJsonNumber(x)) throw wrongType('Double', 'Number', x, at(path, i));
};

const lineString: Check = (json, path) => {
  listOf(position)(json, path);
  if (items(json, path).length < 2) throw parseFailed('A LineString needs at least 2 Positions', path);
};

const linearRing: Check = (json, path) => {
  listOf(position)(json, path);
  const positions = items(json, path);
  if (positions.length < 4) throw parseFailed('A LinearRing needs at least 4 Positions', path);
  if (!samePosition(positions[0] as Json, positions[positions.length - 1] as Json)) {
    throw parseFailed('the first and last locations have to be equal for a LinearRing', path);
  }
};

function samePosition(a: Json, b: Json): boolean {
  const [x, y] = [a as readonly Json[], b as readonly Json[]];
  return x.length === y.length && x.every((value, i) => Number(String(value)) === Number(String(y[i])));
}

const COORDINATES: Readonly<Record<string, Check>> = {
  Point: position,
  MultiPoint: listOf(position),
  LineString: lineString,
  MultiLineString: listOf(lineString),
  Polygon: listOf(linearRing),
  MultiPolygon: listOf(listOf(linearRing)),
};
