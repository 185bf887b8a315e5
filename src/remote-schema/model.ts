/**
 * The schema of another GraphQL server as plain data, in its own names. The schema of a role is a subset in the same form, with preset
 * values.
 */
export interface RemoteModel {
  /** Names of the root types; `null` if there is none. */
  readonly query: string;
  readonly mutation: string | null;
  readonly subscription: string | null;
  /** Types by name, without introspection types; built-in scalars only if they are used. */
  readonly types: ReadonlyMap<string, RemoteType>;
}

export type RemoteType = RemoteScalar | RemoteEnum | RemoteInputObject | RemoteObject | RemoteInterface | RemoteUnion;

interface AnyRemoteType {
  readonly name: string;
  readonly description: string | null;
}

export interface RemoteScalar extends AnyRemoteType {
  readonly kind: 'scalar';
  readonly specifiedByUrl: string | null;
}

export interface RemoteEnum extends AnyRemoteType {
  readonly kind: 'enum';
  readonly values: ReadonlyMap<string, RemoteEnumValue>;
}

export interface RemoteEnumValue extends AnyRemoteType {
  /** `null` if not deprecated. */
  readonly deprecation: string | null;
}

export interface RemoteInputObject extends AnyRemoteType {
  readonly kind: 'input-object';
  readonly fields: ReadonlyMap<string, RemoteInputValue>;
}

export interface RemoteObject extends AnyRemoteType {
  readonly kind: 'object';
  readonly interfaces: readonly string[];
  readonly fields: ReadonlyMap<string, RemoteModelField>;
}

export interface RemoteInterface extends AnyRemoteType {
  readonly kind: 'interface';
  readonly interfaces: readonly string[];
  readonly fields: ReadonlyMap<string, RemoteModelField>;
  /** Names of the object types that implement it. */
  readonly members: readonly string[];
}

export interface RemoteUnion extends AnyRemoteType {
  readonly kind: 'union';
  readonly members: readonly string[];
}

export interface RemoteModelField extends AnyRemoteType {
  readonly type: RemoteTypeRef;
  readonly args: ReadonlyMap<string, RemoteInputValue>;
  readonly deprecation: string | null;
}

/** An argument, or a field of an input object. */
export interface RemoteInputValue extends AnyRemoteType {
  readonly type: RemoteTypeRef;
  /** GraphQL constant; `undefined` if there is none. */
  readonly default: string | undefined;
  readonly deprecation: string | null;
  /** The role's schema does not have this input; the preset is always sent. */
  readonly preset?: RemotePreset;
}

export type RemotePreset =
  /** GraphQL constant. */
  | { readonly kind: 'literal'; readonly text: string }
  /** Session variable by its lower-case name, and the scalar or enum that its text is converted to. */
  | { readonly kind: 'session'; readonly name: string; readonly type: string }
  /** List or object that contains a session variable. */
  | { readonly kind: 'list'; readonly items: readonly RemotePreset[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, value: RemotePreset])[] };

export type RemoteTypeRef =
  | { readonly kind: 'named'; readonly name: string; readonly nonNull: boolean }
  | { readonly kind: 'list'; readonly item: RemoteTypeRef; readonly nonNull: boolean };

export const BUILT_IN_SCALARS: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean', 'ID']);

/** Prints a type in GraphQL syntax, e.g. `[Int!]!`. */
export function printRemoteType(type: RemoteTypeRef): string {
  const inner = type.kind === 'list' ? `[${printRemoteType(type.item)}]` : type.name;
  return type.nonNull ? `${inner}!` : inner;
}

/** Returns the name of the innermost type. */
export function namedRemoteType(type: RemoteTypeRef): string {
  return type.kind === 'list' ? namedRemoteType(type.item) : type.name;
}
