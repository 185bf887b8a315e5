/** Inlines calls of table functions, which the engine does not evaluate: the body replaces the call, arguments replace parameters. */
import type { Engine, Tree } from './engine.ts';
import { invalidQuery } from './errors.ts';
import { type EngineSql, found, quoted, rangeOf } from './names.ts';
import type { Routine } from './storage.ts';
import { typeName } from './types.ts';

export interface Inlined {
  readonly text: string;
}

/**
 * Returns the body of a call.
 * @param bodyText the body in the form that the engine reads
 * @throws ApiError if the arguments do not match the parameters
 */
export async function inlinedCall(
  engine: Engine,
  catalog: string,
  sql: string,
  node: Tree,
  routine: Routine,
  bodyText: (body: string) => Promise<EngineSql>,
): Promise<Inlined> {
  const given = argumentsOf(sql, node, routine);
  const body = await bodyText(routine.body);
  const parameters = routine.parameters.map(({ name, type }) => `${quoted(name)} ${type === undefined ? 'ANY TYPE' : typeName(type)}`);
  const head = `CREATE TABLE FUNCTION f(${parameters.join(', ')}) AS `;
  const analyzed = await engine.analyze(`${head}${body.text}`, catalog, { list: [], isPositional: false });
  const places = [...found(analyzed, ['resolvedArgumentRefNode'])].map(({ node: reference }) => ({
    ...rangeOf(reference),
    name: ((reference['name'] ?? '') as string).toLowerCase(),
  }));
  refuseCapture(routine, body.text, [...given.values()]);
  const headBytes = Buffer.byteLength(head);
  const bytes = Buffer.from(body.text);
  const pieces: Buffer[] = [];
  let done = 0;
  const seen = new Set<number>();
  for (const { start, end, name } of places.sort((a, b) => a.start - b.start)) {
    const [from, to] = [start - headBytes, end - headBytes];
    if (seen.has(from)) continue;
    seen.add(from);
    pieces.push(bytes.subarray(done, from), Buffer.from(given.get(name) ?? 'NULL'));
    done = to;
  }
  pieces.push(bytes.subarray(done));
  return { text: Buffer.concat(pieces).toString() };
}

/** SQL by lower-case parameter name, cast to the parameter's type. */
function argumentsOf(sql: string, node: Tree, routine: Routine): ReadonlyMap<string, string> {
  const bytes = Buffer.from(sql);
  const textOf = (part: Tree): string => {
    const { start, end } = rangeOf(part);
    return bytes.subarray(start, end).toString();
  };
  const given = new Map<string, string>();
  const entries = (node['argumentEntries'] ?? []) as readonly Tree[];
  for (const [index, entry] of entries.entries()) {
    const named = (entry['expr'] as Tree | undefined)?.['astNamedArgumentNode'] as Tree | undefined;
    const name = named === undefined ? routine.parameters[index]?.name : ((named['name'] as Tree)['idString'] as string);
    const parameter = routine.parameters.find((one) => one.name.toLowerCase() === name?.toLowerCase());
    if (parameter === undefined || given.has(parameter.name.toLowerCase())) {
      throw invalidQuery(`No matching signature for table-valued function ${routine.name}: ${entries.length} arguments were given`);
    }
    const whole = textOf(entry);
    const text = named === undefined ? whole : whole.slice(whole.indexOf('=>') + 2).trim();
    // A value without a coercion to the type has no common type with it.
    const type = parameter.type === undefined ? undefined : typeName(parameter.type);
    given.set(
      parameter.name.toLowerCase(),
      type === undefined ? `(${text})` : `CAST(IF(TRUE, (${text}), CAST(NULL AS ${type})) AS ${type})`,
    );
  }
  const missing = routine.parameters.find(({ name }) => !given.has(name.toLowerCase()));
  if (missing !== undefined) {
    throw invalidQuery(`No matching signature for table-valued function ${routine.name}: the argument ${missing.name} is missing`);
  }
  return given;
}

/** Prevents names of the call from being captured within the body. */
function refuseCapture(routine: Routine, body: string, given: readonly string[]): void {
  const words = new Set((body.toLowerCase().match(/[a-z_]\w*/g) ?? []).map((word) => word));
  for (const text of given) {
    const first = /^CAST\(IF\(TRUE, \(`?([A-Za-z_]\w*)`?[.,)]/.exec(text)?.[1]?.toLowerCase();
    if (first !== undefined && words.has(first)) {
      throw new Error(`the emulator cannot inline ${routine.name}: the name ${first} of an argument occurs in its body`);
    }
  }
}
