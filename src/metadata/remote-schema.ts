/** Remote schemas: other GraphQL servers whose schema becomes part of ours. */
import { SvcError } from '../errors/svc-error.ts';
import type { Json } from '../util/json.ts';
import {
  type Codec,
  defaulted,
  flag,
  int,
  leaf,
  like,
  list,
  mapOf,
  mapOrNone,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  text,
} from './codec.ts';
import { type ConfiguredText, type HeaderDefinition, webhookHeaders } from './environment-template.ts';
import { graphqlName } from './graphql-name.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import { keyedList } from './keyed-list.ts';
import { type RemoteRelationship, remoteRelationshipCodec } from './remote-relationship.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export interface RemoteSchema extends WithUnknownKeys {
  readonly name: string;
  readonly definition: RemoteSchemaDefinition;
  readonly comment?: string;
  /** Permissions by role. */
  readonly permissions: ReadonlyMap<string, RemoteSchemaPermission>;
  /** Relationships by the server's type name. */
  readonly remoteRelationships: ReadonlyMap<string, RemoteTypeRelationships>;
}

export interface RemoteSchemaDefinition {
  readonly address: ConfiguredText;
  /** Timeout of a call, in seconds. */
  readonly timeout: number;
  readonly headers: readonly HeaderDefinition[];
  readonly forwardClientHeaders: boolean;
  readonly customization: RemoteSchemaCustomization | undefined;
}

export interface RemoteSchemaCustomization {
  readonly rootFieldsNamespace?: string | undefined;
  readonly typeNames?: Renaming | undefined;
  readonly fieldNames: readonly FieldRenaming[];
}

export interface Renaming {
  readonly prefix?: string | undefined;
  readonly suffix?: string | undefined;
  /** Takes precedence over prefix and suffix. */
  readonly mapping: ReadonlyMap<string, string>;
}

export interface FieldRenaming extends Renaming {
  /** The server's name of the type. */
  readonly parentType: string;
}

export interface RemoteSchemaPermission extends WithUnknownKeys {
  readonly role: string;
  /** The part of the schema that the role can see, as GraphQL SDL. */
  readonly schema: string;
  readonly comment?: string;
}

export interface RemoteTypeRelationships {
  readonly typeName: string;
  readonly relationships: ReadonlyMap<string, RemoteRelationship>;
}

export const NO_REMOTE_CUSTOMIZATION: RemoteSchemaCustomization = { fieldNames: [] };

const DEFAULT_TIMEOUT = 60;

/** Prefix or suffix of a name, so it may begin with a digit. */
const namePart: Codec<string> = leaf(
  'GraphQLNamePart',
  (json, path) => {
    const part = text.decode(json, path);
    if (!/^[_0-9A-Za-z]*$/.test(part)) throw parseFailed(`"${part}" cannot be part of a GraphQL name`, path);
    return part;
  },
  (value) => value,
  { description: 'Letters, digits and `_`: a prefix or suffix of a name.' },
);

const mapping = mapOrNone(mapOf(graphqlName));

const customizationCodec: Codec<RemoteSchemaCustomization> = object('RemoteSchemaCustomization', {
  rootFieldsNamespace: optional(graphqlName),
  typeNames: optional(object('RemoteTypeCustomization', { prefix: optional(namePart), suffix: optional(namePart), mapping })),
  fieldNames: defaulted<readonly FieldRenaming[]>(
    list(
      object('RemoteFieldCustomization', {
        parentType: required(graphqlName),
        prefix: optional(namePart),
        suffix: optional(namePart),
        mapping,
      }),
    ),
    () => [],
    (names) => names.length === 0,
  ),
});

const writtenDefinition = object('RemoteSchemaDef', {
  url: optional(nonEmptyText),
  urlFromEnv: optional(nonEmptyText),
  timeoutSeconds: defaulted(int, () => DEFAULT_TIMEOUT),
  customization: optional(customizationCodec),
  headers: webhookHeaders,
  forwardClientHeaders: flag,
});

/** @throws SvcError also for no address and for two (`invalid-params`) */
export const remoteSchemaDefinitionCodec: Codec<RemoteSchemaDefinition> = leaf(
  'RemoteSchemaDef',
  (json, path) => {
    const { url, urlFromEnv, timeoutSeconds, customization, ...rest } = writtenDefinition.decode(json, path);
    if ((url === undefined) === (urlFromEnv === undefined)) {
      const what = url === undefined ? 'empty' : 'present';
      throw new SvcError('invalid-params', `both \`url\` and \`url_from_env\` can't be ${what}`, { path });
    }
    if (timeoutSeconds <= 0) throw parseFailed('timeout_seconds is to be a positive number', path);
    const address: ConfiguredText =
      url === undefined ? { kind: 'environment', name: urlFromEnv as string } : { kind: 'template', text: url };
    return { ...rest, address, timeout: timeoutSeconds, customization };
  },
  ({ address, timeout, ...rest }): Json =>
    writtenDefinition.encode({
      ...rest,
      ...(address.kind === 'template' ? { url: address.text } : { urlFromEnv: address.name }),
      timeoutSeconds: timeout,
    }),
  like(writtenDefinition, 'Has either `url`, which is a template, or `url_from_env`.'),
);

const permissionDefinition = object('RemoteSchemaPermissionDefinition', { schema: required(nonEmptyText) });
const writtenPermission = object('RemoteSchemaPermission', {
  role: required(nonEmptyText),
  definition: required(permissionDefinition),
  comment: optional(text),
});

const remoteSchemaPermissionCodec: Codec<RemoteSchemaPermission> = leaf(
  'RemoteSchemaPermission',
  (json, path) => {
    const { definition, ...rest } = writtenPermission.decode(json, path);
    return { ...rest, schema: definition.schema };
  },
  ({ schema, ...rest }) => writtenPermission.encode({ ...rest, definition: { schema } }),
  like(writtenPermission),
);

const typeRelationshipsCodec: Codec<RemoteTypeRelationships> = object('RemoteSchemaTypeRelationships', {
  typeName: required(graphqlName),
  relationships: defaulted<ReadonlyMap<string, RemoteRelationship>>(
    keyedList({ what: 'remote relationships', item: preserveUnknownKeys(remoteRelationshipCodec), key: ({ name }) => name }),
    () => new Map(),
  ),
});

/** Entry of `remote_schemas`. */
export const remoteSchemaCodec: Codec<RemoteSchema> = object('RemoteSchemaMetadata', {
  name: required(nonEmptyText),
  definition: required(remoteSchemaDefinitionCodec),
  comment: optional(text),
  permissions: mapOrNone(
    keyedList({ what: 'remote schema permissions', item: preserveUnknownKeys(remoteSchemaPermissionCodec), key: ({ role }) => role }),
  ),
  remoteRelationships: mapOrNone(
    keyedList({ what: 'types with remote relationships', item: typeRelationshipsCodec, key: ({ typeName }) => typeName }),
  ),
});
