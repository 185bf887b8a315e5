/** Values in permissions: literals of a column's type, or session variables. */
import type { TypeSystem } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import type { Operand } from '../../ir/value.ts';
import { describeJson } from '../../metadata/codec.ts';
import { isJsonArray, type Json } from '../../util/json.ts';
import { at, ROOT } from '../../util/path.ts';
import { Defect } from '../inconsistency.ts';

const SESSION_VARIABLE = /^x-svc-/i;

/** Returns the name in lower case if a text stands for a session variable. */
export function sessionVariable(json: Json): string | null {
  if (typeof json !== 'string') return null;
  if (SESSION_VARIABLE.test(json)) return json.toLowerCase();
  return json === 'REQ_USER_ID' ? 'x-svc-user-id' : null;
}

/**
 * Resolves a literal, which is checked against the type, or a session variable. The text of a session variable is cast as a whole, even for
 * a list (`{1,2}`); in a JSON list every item is a literal.
 * @throws Defect, or SvcError from the type's check
 */
export function resolveOperand(types: TypeSystem, type: CatalogType, list: boolean, json: Json): Operand {
  const session = sessionVariable(json);
  if (session !== null) return { value: { kind: 'session', name: session }, type, list };
  if (!list) return { value: { kind: 'literal', json: checkLiteral(types, type, json) }, type, list };
  if (!isJsonArray(json)) throw new Defect(`parsing a list failed, expected Array, but encountered ${describeJson(json)}`);
  return { value: { kind: 'literal', json: json.map((item) => checkLiteral(types, type, item)) }, type, list };
}

function checkLiteral(types: TypeSystem, type: CatalogType, json: Json): Json {
  if (json === null) throw new Defect(`unexpected null value for type '${types.scalar(type).graphql}'`);
  const scalar = types.scalar(type);
  if (!type.array) return scalar.check(json, ROOT);
  if (typeof json === 'string') return json;
  if (!isJsonArray(json)) throw new Defect(`parsing a list failed, expected Array, but encountered ${describeJson(json)}`);
  return json.map((item, i) => (item === null ? null : scalar.check(item, at(ROOT, i))));
}
