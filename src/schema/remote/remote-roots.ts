/** Root fields of a remote schema: its own, or the field of its namespace. */
import type { RemoteRoot } from '../../ir/remote.ts';
import type { RemoteObject } from '../../remote-schema/model.ts';
import { meaningOf } from '../../graphql-engine/meaning.ts';
import type { OutputField, RootMeaning } from '../../graphql-engine/types.ts';
import { typeRef } from '../../graphql-engine/types.ts';
import { remoteOutput, type RemoteTypes } from './remote-types.ts';

/** Returns the fields by our names; empty if the role sees none. */
export function remoteRootFields(types: RemoteTypes, operation: RemoteRoot['operation']): ReadonlyMap<string, OutputField> {
  const name = operation === 'query' ? types.model.query : types.model.mutation;
  const root = name === null ? undefined : types.model.types.get(name);
  if (root?.kind !== 'object' || root.fields.size === 0) return new Map();
  const { namespace } = types.names;
  if (namespace !== null) return new Map([[namespace, namespaceField(types, operation, root, namespace)]]);
  return new Map(
    [...types.objectType(root.name).fields().values()].map((field): [string, OutputField] => [
      field.name,
      rootField(types, operation, field),
    ]),
  );
}

function rootField(types: RemoteTypes, operation: RemoteRoot['operation'], field: OutputField): OutputField {
  const meaning: RootMeaning = {
    kind: 'remote',
    remote: types.name,
    translate: (collected) => ({
      operation,
      fields: [meaningOf(field, 'remote-field').toOutput(collected)],
      namespace: false,
    }),
  };
  return { ...field, meaning };
}

function namespaceField(types: RemoteTypes, operation: RemoteRoot['operation'], root: RemoteObject, namespace: string): OutputField {
  const type = types.objectType(root.name);
  const meaning: RootMeaning = {
    kind: 'remote',
    remote: types.name,
    translate: (collected) => ({ operation, fields: collected.select(type).map(remoteOutput), namespace: true }),
  };
  return { name: namespace, description: null, type: typeRef(type.name, () => type), args: new Map(), meaning };
}
