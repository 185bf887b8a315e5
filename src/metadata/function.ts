import type { QualifiedName } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject } from '../util/json.ts';
import { at } from '../util/path.ts';
import { type Codec, defaulted, leaf, literal, nonEmptyText, object, optional, required, text } from './codec.ts';
import { graphqlName } from './graphql-name.ts';
import { keyedList } from './keyed-list.ts';
import type { KindCodecs } from './kinds.ts';
import { type CustomRootField, customRootFieldsCodec } from './table-configuration.ts';

export interface FunctionConfiguration {
  readonly customName?: string;
  readonly customRootFields: ReadonlyMap<'function' | 'function_aggregate', CustomRootField>;
  readonly sessionArgument?: string;
  readonly exposedAs?: 'query' | 'mutation';
}

export const NO_FUNCTION_CONFIGURATION: FunctionConfiguration = { customRootFields: new Map() };

export interface FunctionMetadata {
  readonly function: QualifiedName;
  readonly configuration: FunctionConfiguration;
  /** Roles, sorted. */
  readonly permissions: readonly string[];
  readonly comment?: string;
}

export function newFunction(name: QualifiedName, configuration: FunctionConfiguration = NO_FUNCTION_CONFIGURATION): FunctionMetadata {
  return { function: name, configuration, permissions: [] };
}

function isConfigured(configuration: FunctionConfiguration): boolean {
  const { customName, customRootFields, sessionArgument, exposedAs } = configuration;
  return customName !== undefined || customRootFields.size > 0 || sessionArgument !== undefined || exposedAs !== undefined;
}

const configurationObject = object('FunctionConfig', {
  customName: optional(graphqlName),
  customRootFields: defaulted(
    customRootFieldsCodec(['function', 'function_aggregate'] as const),
    () => NO_FUNCTION_CONFIGURATION.customRootFields,
    (fields) => fields.size === 0,
  ),
  sessionArgument: optional(nonEmptyText),
  exposedAs: optional(literal('FunctionExposedAs', ['query', 'mutation'])),
});

export const functionConfigurationCodec: Codec<FunctionConfiguration> = leaf(
  'FunctionConfig',
  (json, path) => {
    const value = configurationObject.decode(json, path);
    const response = isJsonObject(json) ? json['response'] : undefined;
    if (response !== undefined && response !== null) {
      throw new SvcError('not-supported', 'the database itself tells what the function returns; "response" is not supported', {
        path: at(path, 'response'),
      });
    }
    return isConfigured(value) ? value : NO_FUNCTION_CONFIGURATION;
  },
  (value) => configurationObject.encode(value),
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
);

export function functionCodec(codecs: KindCodecs): Codec<FunctionMetadata> {
  return object('FunctionMetadata', {
    function: required(codecs.functionName),
    configuration: defaulted(
      functionConfigurationCodec,
      () => NO_FUNCTION_CONFIGURATION,
      (value) => !isConfigured(value),
    ),
    permissions: defaulted(
      permissionsCodec,
      () => [],
      (roles) => roles.length === 0,
    ),
    comment: optional(text),
  });
}
