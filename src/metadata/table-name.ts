import type { QualifiedName } from '../catalog/catalog.ts';
import { isJsonObject } from '../util/json.ts';
import { at } from '../util/path.ts';
import { type Codec, leaf, nonEmptyText, parseFailed, wrongType } from './codec.ts';
import { refuseUnknownKeys } from './unknown-keys.ts';

/**
 * `"t"` (then the schema is `defaultSchema`) or `{schema?, name}`. Encoded as an object.
 * `schemaKey` is what the kind calls its schemas: `schema`, or `dataset`.
 */
export function qualifiedName(defaultSchema: string, schemaKey = 'schema'): Codec<QualifiedName> {
  const known = { keys: [schemaKey, 'name'] };
  return leaf(
    'QualifiedTable',
    (json, path) => {
      if (typeof json === 'string') {
        nonEmptyText.decode(json, path);
        return { schema: defaultSchema, name: json };
      }
      if (!isJsonObject(json)) throw wrongType('QualifiedTable', 'Object', json, path);
      refuseUnknownKeys(json, path, known);
      const name = json['name'];
      if (name === undefined) throw parseFailed("the key 'name' was not present", path);
      const schema = json[schemaKey];
      return {
        schema: schema === undefined || schema === null ? defaultSchema : nonEmptyText.decode(schema, at(path, schemaKey)),
        name: nonEmptyText.decode(name, at(path, 'name')),
      };
    },
    (value) => ({ [schemaKey]: value.schema, name: value.name }),
    { says: `A name, of the schema \`${defaultSchema}\`; or \`{"${schemaKey}": …, "name": …}\`.` },
  );
}

/** How a table is named in messages: `author`, or `other.author`. */
export function printName(name: QualifiedName, defaultSchema: string): string {
  return name.schema === defaultSchema ? name.name : `${name.schema}.${name.name}`;
}
