/**
 * The schema of another GraphQL server as plain data, in its own names. That of a role is the same data with less in it,
 * and with values that are preset.
 */
export interface RemoteModel {
  /** Names of the root types; null: there is none. */
  readonly query: string;
  readonly mutation: string | null;
  readonly subscription: string | null;
  /** By name, without those of introspection; built-in scalars only where they are used. */
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
  /** null: not deprecated. */
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
  /** A constant as GraphQL writes it; undefined: none. */
  readonly default: string | undefined;
  readonly deprecation: string | null;
  /** The role cannot choose it: it is not in the role's schema, and sent whatever the client says. */
  readonly preset?: RemotePreset;
}

export type RemotePreset =
  /** A constant as GraphQL writes it. */
  | { readonly kind: 'literal'; readonly text: string }
  /** Lower-case name of a session variable, and the scalar or enum that its text is brought to. */
  | { readonly kind: 'session'; readonly name: string; readonly type: string }
  /** A list or an object with a session variable somewhere inside. */
  | { readonly kind: 'list'; readonly items: readonly RemotePreset[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, value: RemotePreset])[] };

export type RemoteTypeRef =
  | { readonly kind: 'named'; readonly name: string; readonly nonNull: boolean }
  | { readonly kind: 'list'; readonly item: RemoteTypeRef; readonly nonNull: boolean };

export const BUILT_IN_SCALARS: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean', 'ID']);

/** As GraphQL writes it: `[Int!]!`. */
export function printRemoteType(type: RemoteTypeRef): string {
  const inner = type.kind === 'list' ? `[${printRemoteType(type.item)}]` : type.name;
  return type.nonNull ? `${inner}!` : inner;
}

/** The name inside all lists. */
export function namedRemoteType(type: RemoteTypeRef): string {
  return type.kind === 'list' ? namedRemoteType(type.item) : type.name;
}
