/**
 * Requests to another GraphQL server, in that server's own names, and the composition of our answer. Values are references, as everywhere
 * in the IR: only literals of the client's document are sent as literals, everything else as variables.
 */
import type { Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import type { WrittenJson } from './input-validation.ts';

/** One request to a server: a root field, or all fields of its namespace. */
export interface RemoteRoot {
  readonly operation: 'query' | 'mutation';
  readonly fields: readonly RemoteOutput[];
  /** If true, the answer is an object of all fields; otherwise it is the value of the only field. */
  readonly namespace: boolean;
  /** Distinguishes it from a `SelectRoot` and a `MutationRoot`. */
  readonly query?: undefined;
  readonly mutation?: undefined;
}

/** One key of an object of our answer. Response keys are unique within an object. */
export type RemoteOutput =
  | RemoteField
  /** Known without the server. */
  | { readonly kind: 'typename'; readonly responseKey: string; readonly typeName: string }
  /** Placeholder of the join with this index. The fields of its key are requested as well. */
  | { readonly kind: 'joined'; readonly responseKey: string; readonly join: number; readonly keys: readonly RemoteKey[] }
  /** Requested but not returned: identifies the rows of a `RemoteBatch`. */
  | { readonly kind: 'hidden'; readonly key: RemoteKey };

/** Properties that fields of different object types must share to have the same key in the server's answer. */
export interface RemoteShape {
  /** Type in the server's notation, without the names of object types: `[Int!]!`, `[{}]`. */
  readonly shape: string;
  /** Number in the response key that separates fields of different shapes; absent if all object types share the key. */
  readonly variant?: number;
}

/** Field without arguments whose value is part of a key. */
export interface RemoteKey extends RemoteShape {
  readonly name: string;
}

export interface RemoteField extends RemoteShape {
  readonly kind: 'field';
  readonly responseKey: string;
  /** The server's name of the field. */
  readonly name: string;
  readonly args: readonly RemoteArgument[];
  /** `null` for a scalar or an enum. */
  readonly selection: RemoteSelection | null;
}

export interface RemoteArgument {
  readonly name: string;
  readonly value: RemotePart;
}

/** Value in the text of a document. */
export type RemotePart =
  /** Literal of the client's document. */
  | { readonly kind: 'printed'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly RemotePart[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, value: RemotePart])[] }
  /** `type` is in the server's notation: `[Int!]!`. */
  | { readonly kind: 'variable'; readonly type: string; readonly value: RemoteValue };

export type RemoteSelection =
  | { readonly kind: 'object'; readonly fields: readonly RemoteOutput[] }
  /** Fields selected for each object type of an interface or a union, by the server's type name. */
  | { readonly kind: 'abstract'; readonly types: ReadonlyMap<string, readonly RemoteOutput[]> };

/** Value of an argument, built for each request; undefined omits the argument or key. */
export type RemoteValue =
  | { readonly kind: 'literal'; readonly json: Json }
  /** Part of the client's request; undefined if it is a variable that was not sent. */
  | { readonly kind: 'written'; readonly written: WrittenJson }
  /** Part of a join key; `read` converts its text to the server's type. */
  | { readonly kind: 'key'; readonly index: number; readonly read: (text: string) => Json }
  /** List of that part of all keys. */
  | { readonly kind: 'key-list'; readonly index: number; readonly read: (text: string) => Json }
  | { readonly kind: 'list'; readonly items: readonly RemoteValue[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, value: RemoteValue])[] }
  /** Objects are merged by key and lists are concatenated; otherwise the last value that is present wins. */
  | { readonly kind: 'merged'; readonly parts: readonly RemoteValue[] }
  /** Converted to the server's type, with the presets of the role's permission. */
  | { readonly kind: 'coerced'; readonly value: RemoteValue | null; readonly coerce: RemoteCoercion; readonly at: Path };

/**
 * Converts the value of an argument.
 * @param json undefined if the client sent none
 * @param session values of session variables
 * @throws SvcError if the value does not fit or a session variable is missing
 */
export type RemoteCoercion = (json: Json | undefined, at: Path, session: ReadonlyMap<string, string>) => Json | undefined;
