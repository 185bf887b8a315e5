/** Arbitrary actions with their custom types. */
import fc from 'fast-check';
import type { Action, ActionDefinition, ActionPermission } from '../../src/metadata/action.ts';
import type {
  CustomEnum,
  CustomEnumValue,
  CustomField,
  CustomInputObject,
  CustomObject,
  CustomRelationship,
  CustomScalar,
  CustomTypes,
} from '../../src/metadata/custom-types.ts';
import type { GraphqlType } from '../../src/metadata/graphql-type.ts';
import type { RequestTransform, ResponseTransform } from '../../src/metadata/transform.ts';
import { comment, graphqlName, json, mapBy, name, names, sparse } from './arbitrary-values.ts';

const graphqlType: fc.Arbitrary<GraphqlType> = fc.letrec<{ type: GraphqlType }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 2 },
    fc.record({ kind: fc.constant('named' as const), name: graphqlName, nonNull: fc.boolean() }),
    fc.record({ kind: fc.constant('list' as const), item: tie('type'), nonNull: fc.boolean() }),
  ),
})).type;

const customField: fc.Arbitrary<CustomField> = sparse<CustomField>({ name: graphqlName, type: graphqlType, description: comment }, [
  'name',
  'type',
]);

export const action: fc.Arbitrary<Action> = sparse<Action>(
  {
    name: graphqlName,
    definition: sparse<ActionDefinition>(
      {
        arguments: fc.array(customField, { maxLength: 2 }),
        outputType: graphqlType,
        kind: fc.constantFrom('query', 'synchronous', 'asynchronous'),
        handler: name,
        headers: fc.array(fc.record({ name, valueFromEnv: fc.constant('KEY') }), { maxLength: 2 }),
        forwardClientHeaders: fc.boolean(),
        ignoredClientHeaders: names,
        timeout: fc.nat(100),
        signature: fc.constant({ secretFromEnv: 'SECRET' }),
        retryConf: fc.record({ numRetries: fc.nat(3), intervalSec: fc.nat(3) }),
        requestTransform: fc.constant<RequestTransform>({ version: 2, url: '{{$base_url}}', body: { action: 'remove' } }),
        responseTransform: fc.constant<ResponseTransform>({ version: 1, body: { action: 'transform', template: '{{$body}}' } }),
      },
      ['arguments', 'outputType', 'kind', 'handler', 'headers', 'forwardClientHeaders', 'timeout'],
    ).map(({ retryConf, ...rest }) => (rest.kind === 'asynchronous' && retryConf !== undefined ? { ...rest, retryConf } : rest)),
    comment,
    permissions: mapBy(
      sparse<ActionPermission>({ role: name, comment, definition: json.filter((value) => value !== null) }, ['role']),
      ({ role }) => role,
    ),
  },
  ['name', 'definition', 'permissions'],
);

const some = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> => fc.array(item, { minLength: 1, maxLength: 2 });
const few = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> => fc.array(item, { maxLength: 2 });

const customRelationship: fc.Arbitrary<CustomRelationship> = fc.record({
  name: graphqlName,
  definition: fc.record({
    kind: fc.constant('source' as const),
    relationshipType: fc.constantFrom('object' as const, 'array' as const),
    source: name,
    table: json,
    fieldMapping: fc.dictionary(name, name, { maxKeys: 2 }).map((fields) => new Map(Object.entries(fields))),
  }),
  plain: fc.boolean(),
});

export const customTypes: fc.Arbitrary<CustomTypes> = fc.record({
  inputObjects: few(sparse<CustomInputObject>({ name: graphqlName, description: comment, fields: some(customField) }, ['name', 'fields'])),
  objects: few(
    sparse<CustomObject>({ name: graphqlName, description: comment, fields: some(customField), relationships: few(customRelationship) }, [
      'name',
      'fields',
      'relationships',
    ]),
  ),
  scalars: few(sparse<CustomScalar>({ name: graphqlName, description: comment }, ['name'])),
  enums: few(
    sparse<CustomEnum>(
      {
        name: graphqlName,
        description: comment,
        values: some(sparse<CustomEnumValue>({ value: graphqlName, description: comment, isDeprecated: fc.boolean() }, ['value'])),
      },
      ['name', 'values'],
    ),
  ),
});
