/**
 * Parses the `path` argument of JSON columns, such as `$.a.b[0]`, `a['with space']`, `["x.y"]`, to a list of keys and indexes as text, the
 * form of the database's path operator.
 */
import { SvcError } from '../../errors/svc-error.ts';
import type { Value } from '../../ir/value.ts';
import type { Json } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';

const ADVICE =
  'Accept letters, digits, underscore (_) or hyphen (-) only. Use quotes enclosed in bracket (["..."]) if there is any special character';

function fail(detail: string, at: Path): never {
  throw new SvcError('parse-failed', `parse json path error: ${detail}. ${ADVICE}`, { path: at });
}

const BARE = /[\p{L}\p{N}_-]+/uy;
const INDEX = /\[(\d+)\]/y;

/** Returns the quoted key that begins at `start` (the quote), in which `\` escapes any character, and its end. */
function quotedKey(text: string, start: number, at: Path): { readonly key: string; readonly end: number } {
  const quote = text[start];
  let key = '';
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === quote) {
      if (text[i + 1] !== ']') fail(`expected "]" after character ${i + 1}`, at);
      return { key, end: i + 2 };
    }
    if (text[i] === '\\' && i + 1 < text.length) i++;
    key += text[i];
  }
  return fail('a quoted key is not closed', at);
}

/** Maximum steps of a path: deeper JSON is far beyond what the service returns. */
const MAX_STEPS = 1000;

/** @throws SvcError `parse-failed` at the argument */
export function parseSelectPath(text: string, at: Path): readonly string[] {
  const keys: string[] = [];
  let i = text.startsWith('$') ? 1 : 0;
  while (i < text.length) {
    if (keys.length === MAX_STEPS) throw new SvcError('parse-failed', `a JSON path may have at most ${MAX_STEPS} steps`, { path: at });
    const first = i === 0;
    if (text[i] === '[') {
      if (text[i + 1] === '"' || text[i + 1] === "'") {
        const { key, end } = quotedKey(text, i + 1, at);
        keys.push(key);
        i = end;
        continue;
      }
      INDEX.lastIndex = i;
      const index = INDEX.exec(text);
      if (index === null) fail(`expected an index or a quoted key after character ${i + 1}`, at);
      keys.push(index[1] as string);
      i = INDEX.lastIndex;
      continue;
    }
    if (text[i] === '.') {
      i++;
      if (text[i] === '[') continue;
    } else if (!first) fail(`unexpected character "${text[i]}" at ${i + 1}`, at);
    BARE.lastIndex = i;
    const key = BARE.exec(text);
    if (key === null) fail(i >= text.length ? 'the path ends with a dot' : `unexpected character "${text[i]}" at ${i + 1}`, at);
    keys.push(key[0]);
    i = BARE.lastIndex;
  }
  return keys;
}

/** Returns the parsed form of a non-null `path` argument; null if it selects the whole value. */
export function jsonPathValue(value: Value, at: Path): Value | null {
  if (value.kind === 'literal') {
    const keys = parseSelectPath(value.json as string, at);
    return keys.length === 0 ? null : { kind: 'literal', json: keys };
  }
  if (value.kind !== 'variable') return value;
  const check = value.check;
  return {
    ...value,
    check: (json: Json, where: Path) => {
      const text = check(json, where);
      return text === null ? [] : parseSelectPath(text as string, where);
    },
  };
}
