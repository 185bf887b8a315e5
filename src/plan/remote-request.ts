/** Requests to other GraphQL servers: the document is printed once per plan, the values of its variables once per request. */
import type { Session } from '../auth/session.ts';
import { invariant } from '../errors/svc-error.ts';
import type { RemoteField, RemoteKey, RemoteOutput, RemotePart, RemoteRoot, RemoteSelection, RemoteValue } from '../ir/remote.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { bindPart } from './bind.ts';

export interface RemoteRequest {
  readonly document: string;
  readonly variables: readonly RemoteVariable[];
}

interface RemoteVariable {
  readonly name: string;
  readonly value: RemoteValue;
  /** Index of the join key that the value is made with; 0 outside of joins. */
  readonly call: number;
}

/** Prefix of our own response keys in answers of servers. */
const OWN = 'svc__';

/** Response key of `__typename` at an interface or a union. */
export const TYPE_KEY = `${OWN}typename`;

/** Returns the response key of a field that is part of the key of a join. */
export function joinKeyOf({ name, variant }: Pick<RemoteKey, 'name' | 'variant'>): string {
  return `${OWN}key${variant ?? ''}__${name}`;
}

/**
 * Returns the response key of a field: the client's own, unless it starts with our prefix (what follows the prefix distinguishes the two)
 * or another object type has a field of a different shape under it.
 */
export function answerKeyOf({ responseKey, variant }: Pick<RemoteField, 'responseKey' | 'variant'>): string {
  return variant !== undefined || responseKey.startsWith(OWN) ? `${OWN}client${variant ?? ''}__${responseKey}` : responseKey;
}

/** Returns the response key of a join's field for one of its keys. */
export function joinCallKey(call: number): string {
  return `f${call}`;
}

export function remoteRequest({ operation, fields }: RemoteRoot): RemoteRequest {
  const printer = new DocumentPrinter();
  return printer.finish(operation, printer.outputs(fields, 0));
}

/** Requests the field once per key, under aliases, in one document. */
export function remoteJoinRequest(field: RemoteField, keys: number): RemoteRequest {
  const printer = new DocumentPrinter();
  const calls = Array.from({ length: keys }, (_, call) => printer.field(field, joinCallKey(call), call));
  return printer.finish('query', `{${calls.join(' ')}}`);
}

/** Requests the field once, with all keys as a list. */
export function remoteBatchRequest(field: RemoteField): RemoteRequest {
  const printer = new DocumentPrinter();
  return printer.finish('query', `{${printer.field(field, joinCallKey(0), 0)}}`);
}

/** Prints a document and collects its variables, declared with the server's types. */
class DocumentPrinter {
  readonly #variables: RemoteVariable[] = [];
  readonly #declarations: string[] = [];

  finish(operation: 'query' | 'mutation', selection: string): RemoteRequest {
    const declared = this.#declarations.length === 0 ? '' : `(${this.#declarations.join(', ')})`;
    return { document: `${operation}${declared} ${selection}`, variables: this.#variables };
  }

  field({ name, args, selection }: RemoteField, key: string, call: number): string {
    const alias = key === name ? '' : `${key}: `;
    const printed = args.map(({ name: argument, value }) => `${argument}: ${this.#part(value, call)}`);
    const called = printed.length === 0 ? name : `${name}(${printed.join(', ')})`;
    return `${alias}${called}${selection === null ? '' : ` ${this.#selection(selection, call)}`}`;
  }

  outputs(outputs: readonly RemoteOutput[], call: number): string {
    const printed: string[] = [];
    const keys = new Set<string>();
    for (const output of outputs) {
      if (output.kind === 'field') {
        printed.push(this.field(output, answerKeyOf(output), call));
      } else if (output.kind === 'joined') for (const key of output.keys) keys.add(`${joinKeyOf(key)}: ${key.name}`);
      else if (output.kind === 'hidden') keys.add(`${joinKeyOf(output.key)}: ${output.key.name}`);
    }
    printed.push(...keys);
    return `{${printed.length === 0 ? '__typename' : printed.join(' ')}}`;
  }

  #part(part: RemotePart, call: number): string {
    switch (part.kind) {
      case 'printed':
        return part.text;
      case 'list':
        return `[${part.items.map((item) => this.#part(item, call)).join(', ')}]`;
      case 'object':
        return `{${part.entries.map(([key, value]) => `${key}: ${this.#part(value, call)}`).join(', ')}}`;
      case 'variable': {
        const name = `v${this.#variables.length}`;
        this.#variables.push({ name, value: part.value, call });
        this.#declarations.push(`$${name}: ${part.type}`);
        return `$${name}`;
      }
    }
  }

  #selection(selection: RemoteSelection, call: number): string {
    if (selection.kind === 'object') return this.outputs(selection.fields, call);
    const types = [...selection.types].filter(([, fields]) => fields.some(({ kind }) => kind !== 'typename'));
    const fragments = types.map(([name, fields]) => ` ... on ${name} ${this.outputs(fields, call)}`);
    return `{${TYPE_KEY}: __typename${fragments.join('')}}`;
  }
}

/**
 * Returns the variables of a request.
 * @param keys texts of the join keys, by call and part; empty outside of joins
 * @throws SvcError of the first value that does not fit
 */
export function bindRemote(
  { variables: declared }: RemoteRequest,
  variables: Variables,
  session: Session,
  keys: readonly (readonly (string | null)[])[] = [],
): JsonObject {
  const bound: Record<string, Json> = {};
  for (const { name, value, call } of declared) {
    const json = bindValue(value, { variables, session, key: keys[call] ?? [], keys });
    if (json !== undefined) bound[name] = json;
  }
  return bound;
}

interface Bound {
  readonly variables: Variables;
  readonly session: Session;
  /** Key of the call. */
  readonly key: readonly (string | null)[];
  readonly keys: readonly (readonly (string | null)[])[];
}

function bindValue(value: RemoteValue, bound: Bound): Json | undefined {
  switch (value.kind) {
    case 'literal':
      return value.json;
    case 'written':
      return bindPart(value.written, bound.variables);
    case 'coerced':
      return value.coerce(value.value === null ? undefined : bindValue(value.value, bound), value.at, bound.session.variables);
    case 'key': {
      const text = bound.key[value.index];
      invariant(text !== undefined && text !== null, 'keys without a value are not requested');
      return value.read(text);
    }
    case 'key-list':
      return bound.keys.flatMap((key) => {
        const text = key[value.index];
        return text === undefined || text === null ? [] : [value.read(text)];
      });
    case 'list':
      return value.items.map((item) => bindValue(item, bound) ?? null);
    case 'object': {
      const entries = value.entries.map(([key, item]) => [key, bindValue(item, bound)] as const);
      return Object.fromEntries(entries.filter((entry): entry is readonly [string, Json] => entry[1] !== undefined));
    }
    case 'merged':
      return value.parts.reduce<Json | undefined>((merged, part) => merge(merged, bindValue(part, bound)), undefined);
  }
}

function merge(a: Json | undefined, b: Json | undefined): Json | undefined {
  if (a === undefined || b === undefined) return b ?? a;
  if (isJsonArray(a) && isJsonArray(b)) return [...a, ...b];
  if (!isJsonObject(a) || !isJsonObject(b)) return b;
  const merged = new Map(Object.entries(a));
  for (const [key, value] of Object.entries(b)) merged.set(key, merge(merged.get(key), value) as Json);
  return Object.fromEntries(merged);
}
