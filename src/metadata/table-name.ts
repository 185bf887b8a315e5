import type { QualifiedName } from '../catalog/catalog.ts';
import { isJsonObject } from '../util/json.ts';
import { at } from '../util/path.ts';
import { type Codec, leaf, nonEmptyText, parseFailed, wrongType } from './codec.ts';
import { refuseUnknownKeys } from './unknown-keys.ts';

/**
 * `"t"` (in `defaultSchema`) or `{schema?, name}`. Encoded as an object.
 * @param schemaKey the kind's name for schemas: `schema` or `dataset`
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
    { description: `A name in the schema \`${defaultSchema}\`, or \`{"${schemaKey}": …, "name": …}\`.` },
  );
}

/** Name of a table in messages: `author` or `other.author`. */
export function printName(name: QualifiedName, defaultSchema: string): string {
  return name.schema === defaultSchema ? name.name : `${name.schema}.${name.name}`;
}
