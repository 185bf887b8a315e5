import type { QualifiedName } from '../catalog/catalog.ts';
import { isJsonObject } from '../util/json.ts';
import { type Codec, defaulted, leaf, like, literal, nonEmptyText, object, optional, required, text } from './codec.ts';
import { graphqlName } from './graphql-name.ts';
import { keyedList } from './keyed-list.ts';
import type { KindCodecs } from './kinds.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import { type CustomRootField, customRootFieldsCodec } from './table-configuration.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export interface FunctionConfiguration extends WithUnknownKeys {
  readonly customName?: string;
  readonly customRootFields: ReadonlyMap<'function' | 'function_aggregate', CustomRootField>;
  readonly sessionArgument?: string;
  readonly exposedAs?: 'query' | 'mutation';
}

export const NO_FUNCTION_CONFIGURATION: FunctionConfiguration = { customRootFields: new Map() };

export interface FunctionMetadata extends WithUnknownKeys {
  readonly function: QualifiedName;
  readonly configuration: FunctionConfiguration;
  /** Sorted roles. */
  readonly permissions: readonly string[];
  readonly comment?: string;
}

/** Returns the entry of a newly tracked function, without permissions. */
export function newFunction(name: QualifiedName, configuration: FunctionConfiguration = NO_FUNCTION_CONFIGURATION): FunctionMetadata {
  return { function: name, configuration, permissions: [] };
}

/** Removes the role's permission, including unknown keys of its entry. */
export function withoutPermission(entry: FunctionMetadata, role: string): FunctionMetadata {
  const permissions = entry.permissions.filter((each) => each !== role);
  const unknownKeys = entry.unknownKeys?.filter(({ path: [list, item] }) => {
    const element = typeof item === 'object' ? item.element : null;
    return list !== 'permissions' || !isJsonObject(element) || element['role'] !== role;
  });
  return { ...entry, permissions, unknownKeys };
}

function isConfigured(configuration: FunctionConfiguration): boolean {
  const { customName, customRootFields, sessionArgument, exposedAs } = configuration;
  return customName !== undefined || customRootFields.size > 0 || sessionArgument !== undefined || exposedAs !== undefined;
}

const fields = {
  customName: optional(graphqlName),
  customRootFields: defaulted(
    customRootFieldsCodec(['function', 'function_aggregate'] as const),
    () => NO_FUNCTION_CONFIGURATION.customRootFields,
    (fields) => fields.size === 0,
  ),
  sessionArgument: optional(nonEmptyText),
  exposedAs: optional(literal('FunctionExposedAs', ['query', 'mutation'])),
};

/** Kinds whose functions declare their result do not need `response`. */
const configurationObject = object('FunctionConfig', fields, { notSupported: ['response'] });

export const functionConfigurationCodec: Codec<FunctionConfiguration> = leaf(
  'FunctionConfig',
  (json, path) => {
    const value = configurationObject.decode(json, path);
    return isConfigured(value) ? value : NO_FUNCTION_CONFIGURATION;
  },
  (value) => configurationObject.encode(value),
  like(configurationObject),
);

const rolesList = keyedList({
  what: 'function permissions',
  item: object('FunctionPermissionInfo', { role: required(nonEmptyText) }),
  key: ({ role }) => role,
});

const permissionsCodec: Codec<readonly string[]> = leaf(
  'FunctionPermissions',
  (json, path) => [...rolesList.decode(json, path).keys()].sort(),
  (roles) => rolesList.encode(new Map(roles.map((role) => [role, { role }]))),
  like(rolesList),
);

/** Entry of a source's `functions`. */
export function functionCodec(codecs: KindCodecs): Codec<FunctionMetadata> {
  return preserveUnknownKeys<FunctionMetadata>(
    object('FunctionMetadata', {
      function: required(codecs.functionName),
      configuration: defaulted<FunctionConfiguration>(
        preserveUnknownKeys(functionConfigurationCodec),
        () => NO_FUNCTION_CONFIGURATION,
        (value) => !isConfigured(value),
      ),
      permissions: defaulted(
        permissionsCodec,
        () => [],
        (roles) => roles.length === 0,
      ),
      comment: optional(text),
    }),
  );
}
