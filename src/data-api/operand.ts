/** Literal values of a data operation. A text is never a session variable here. */
import type { TypeSystem } from '../backend/type-system.ts';
import type { CatalogType } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Operand } from '../ir/value.ts';
import { wrongType } from '../metadata/codec.ts';
import { isJsonArray, type Json } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';

/** Returns a value, or a list of values, of a type. @throws SvcError also for null */
export function literalOperand(types: TypeSystem, type: CatalogType, list: boolean, json: Json, path: Path): Operand {
  if (!list) return { value: { kind: 'literal', json: checked(types, type, json, path) }, type, list };
  if (!isJsonArray(json)) throw wrongType('[]', 'Array', json, path);
  return { value: { kind: 'literal', json: json.map((item, i) => checked(types, type, item, at(path, i))) }, type, list };
}

/** Returns a value for a column; null is SQL NULL. @throws SvcError */
export function columnOperand(types: TypeSystem, type: CatalogType, json: Json, path: Path): Operand {
  return json === null ? { value: { kind: 'literal', json }, type, list: false } : literalOperand(types, type, false, json, path);
}

function checked(types: TypeSystem, type: CatalogType, json: Json, path: Path): Json {
  const scalar = types.scalar(type);
  if (json === null) throw new SvcError('parse-failed', `unexpected null value for type '${scalar.graphql}'`, { path });
  if (!type.array) return scalar.check(json, path);
  // Text format of the whole array.
  if (typeof json === 'string') return json;
  if (!isJsonArray(json)) throw wrongType('[]', 'Array', json, path);
  return json.map((item, i) => element(types, type, item, at(path, i)));
}

/** Elements of multidimensional arrays are arrays. */
function element(types: TypeSystem, type: CatalogType, json: Json, path: Path): Json {
  if (json === null) return null;
  const scalar = types.scalar(type);
  if (isJsonArray(json) && !scalar.json) return json.map((item, i) => element(types, type, item, at(path, i)));
  return scalar.check(json, path);
}
