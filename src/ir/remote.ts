/**
 * What is asked of another GraphQL server, in that server's own names, and how its answer becomes part of ours. Values
 * are references, as everywhere in the IR: only literals of the client's document are literals of ours, all else are variables.
 */
import type { Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import type { WrittenJson } from './input-validation.ts';

/** One request to a server: a root field, or all fields of its namespace. */
export interface RemoteRoot {
  readonly operation: 'query' | 'mutation';
  readonly fields: readonly RemoteOutput[];
  /** False: the answer is the value of the only field. True: an object of all of them. */
  readonly namespace: boolean;
  /** Tell it from a `SelectRoot` and a `MutationRoot`. */
  readonly query?: undefined;
  readonly mutation?: undefined;
}

/** One key of an object of our answer. Response keys are unique within an object. */
export type RemoteOutput =
  | RemoteField
  /** Known without the server. */
  | { readonly kind: 'typename'; readonly responseKey: string; readonly typeName: string }
  /** A hole for the join with this index; its key is made of fields that the server is asked for besides. */
  | { readonly kind: 'joined'; readonly responseKey: string; readonly join: number; readonly keys: readonly RemoteKey[] }
  /** Asked for, but no part of our answer: what tells the rows of a `RemoteBatch` apart. */
  | { readonly kind: 'hidden'; readonly key: RemoteKey };

/** What fields of different object types must have in common to have the same key in the server's answer. */
export interface RemoteShape {
  /** The type as the server writes it, without the name of an object type: `[Int!]!`, `[{}]`. */
  readonly shape: string;
  /** Tells its key from those of other object types where the shapes differ; absent: it is the same for all. */
  readonly apart?: number;
}

/** A field without arguments whose value is part of a key. */
export interface RemoteKey extends RemoteShape {
  readonly name: string;
}

export interface RemoteField extends RemoteShape {
  readonly kind: 'field';
  readonly responseKey: string;
  /** The server's name of it. */
  readonly name: string;
  readonly args: readonly RemoteArgument[];
  /** null: a scalar or an enum. */
  readonly selection: RemoteSelection | null;
}

export interface RemoteArgument {
  readonly name: string;
  readonly value: RemotePart;
}

/** What a document has in the place of a value. */
export type RemotePart =
  /** A literal of the client's document, as GraphQL writes it. */
  | { readonly kind: 'printed'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly RemotePart[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, value: RemotePart])[] }
  /** `type` as the server writes it: `[Int!]!`. */
  | { readonly kind: 'variable'; readonly type: string; readonly value: RemoteValue };

export type RemoteSelection =
  | { readonly kind: 'object'; readonly fields: readonly RemoteOutput[] }
  /** Of an interface or a union: what is selected of each of its object types, by the server's name of it. */
  | { readonly kind: 'abstract'; readonly types: ReadonlyMap<string, readonly RemoteOutput[]> };

/** The value of an argument, put together when the request is made; undefined leaves the argument or key out. */
export type RemoteValue =
  | { readonly kind: 'literal'; readonly json: Json }
  /** What the client wrote. An unsent variable leaves it out. */
  | { readonly kind: 'written'; readonly written: WrittenJson }
  /** A part of the key of a join; `read` brings its text to the server's type. */
  | { readonly kind: 'key'; readonly index: number; readonly read: (text: string) => Json }
  /** That part of all keys, as a list. */
  | { readonly kind: 'key-list'; readonly index: number; readonly read: (text: string) => Json }
  | { readonly kind: 'list'; readonly items: readonly RemoteValue[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, value: RemoteValue])[] }
  /** Objects are merged key by key and lists put one after another; elsewhere the last one that is there counts. */
  | { readonly kind: 'merged'; readonly parts: readonly RemoteValue[] }
  /** Brought to the server's type, with what the role's permission presets. */
  | { readonly kind: 'coerced'; readonly value: RemoteValue | null; readonly coerce: RemoteCoercion; readonly at: Path };

/**
 * @param json undefined: nothing was given
 * @param session values of session variables
 * @throws SvcError when the value does not fit or a session variable is missing
 */
export type RemoteCoercion = (json: Json | undefined, at: Path, session: ReadonlyMap<string, string>) => Json | undefined;
