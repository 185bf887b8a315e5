/**
 * The schema as a subgraph: `_service` returns its SDL, `_entities` returns rows by their keys. Includes the tables that the metadata
 * enables and whose rows the role may find by their keys.
 */
import { SvcError } from '../../errors/svc-error.ts';
import { and } from '../../ir/bool-exp.ts';
import type { Field, SelectRoot } from '../../ir/select.ts';
import type { Json } from '../../util/json.ts';
import { printRoleSchema } from '../../graphql-engine/sdl.ts';
import type {
  CollectedField,
  InputValue,
  InputField,
  InputObjectType,
  MetaMeaning,
  NamedType,
  ObjectType,
  OutputField,
  ResponseNode,
  RootTypes,
  ScalarSchemaType,
  UnionType,
} from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { bytesOfText } from '../../util/bytes.ts';
import { builtin, STRING_SCALAR } from '../../graphql-engine/input/built-in-scalars.ts';
import { unexpectedNull } from '../../graphql-engine/input/input-errors.ts';
import { invalid } from './input.ts';
import { primaryKeyColumns, keyCondition } from './primary-key.ts';
import type { RoleSource } from './role-context.ts';
import type { RoleColumn, RoleTable } from './role-table.ts';
import { tableRootIsVisible } from './table-root.ts';

interface Entity {
  readonly source: string;
  readonly table: RoleTable;
  readonly key: readonly RoleColumn[];
}

const TYPENAME = '__typename';
const ARGUMENT = 'representations';

/** Returns additional fields of the query root. @param roots builds the complete types, to print them */
export function federationFields(sources: readonly RoleSource[], roots: () => RootTypes): ReadonlyMap<string, OutputField> {
  const entities = new Map(sources.flatMap(entitiesOf).map((entity) => [entity.table.name, entity]));
  const fields = new Map<string, OutputField>([[SERVICE_FIELD, serviceField(entities, roots)]]);
  if (entities.size > 0) fields.set(ENTITIES_FIELD, entitiesField(entities));
  return fields;
}

function entitiesOf(source: RoleSource): readonly Entity[] {
  return [...source.context.info.tables.values()].flatMap((info): readonly Entity[] => {
    if (!info.federated || !tableRootIsVisible(source, info, 'select_by_pk', 'query')) return [];
    const table = source.table(info.name);
    const key = table === null ? null : primaryKeyColumns(table);
    return table === null || key === null ? [] : [{ source: source.context.info.name, table, key }];
  });
}

const SERVICE_FIELD = '_service';
const ENTITIES_FIELD = '_entities';

const ANY: ScalarSchemaType = { kind: 'scalar', name: '_Any', description: null, enumLiterals: true, check: (json: Json) => json };

/** A part of a representation: a variable there has the type of its column. */
const PART: ScalarSchemaType = { ...ANY, anyVariable: true };

const SERVICE: ObjectType = {
  kind: 'object',
  name: '_Service',
  description: null,
  fields: lazy(
    () =>
      new Map([
        [
          'sdl',
          {
            name: 'sdl',
            description: 'SDL representation of schema',
            type: builtin(STRING_SCALAR, true),
            args: new Map(),
            meaning: { kind: 'inner' },
          },
        ],
      ]),
  ),
};

const OWN_TYPES: ReadonlySet<string> = new Set(['_Any', '_Entity', SERVICE.name]);
const OWN_FIELDS: ReadonlySet<string> = new Set([SERVICE_FIELD, ENTITIES_FIELD]);

function serviceField(entities: ReadonlyMap<string, Entity>, roots: () => RootTypes): OutputField {
  const keyDirective = (type: NamedType): string => {
    const entity = type.kind === 'object' ? entities.get(type.name) : undefined;
    return entity === undefined ? '' : ` @key(fields: ${JSON.stringify(entity.key.map(({ name }) => name).join(' '))})`;
  };
  const sdl: ResponseNode = {
    kind: 'deferred',
    produce: async () => {
      const options = { withoutQueryFields: OWN_FIELDS, withoutTypes: OWN_TYPES, typeDirectives: keyDirective };
      return [bytesOfText(JSON.stringify(await printRoleSchema(roots(), options)))];
    },
  };
  const meaning: MetaMeaning = {
    kind: 'meta',
    showsSchema: true,
    respond: (field) => ({
      kind: 'object',
      entries: field
        .select(SERVICE)
        .map((inner) => [inner.responseKey, inner.field === null ? { kind: 'json', text: JSON.stringify(inner.typeName) } : sdl]),
    }),
  };
  return { name: SERVICE_FIELD, description: null, type: typeRef(SERVICE.name, () => SERVICE, true), args: new Map(), meaning };
}

function entitiesField(entities: ReadonlyMap<string, Entity>): OutputField {
  const union: UnionType = {
    kind: 'union',
    name: '_Entity',
    description: 'A union of all types that have keys',
    members: () => [...entities.values()].map(({ table }) => table.rows().type),
  };
  const argument: InputField = {
    name: ARGUMENT,
    description: null,
    type: listTypeRef(
      typeRef(ANY.name, () => ANY, true),
      true,
    ),
  };
  const meaning: MetaMeaning = {
    kind: 'meta',
    showsSchema: false,
    respond(field, addRoot) {
      const selected = new Map<Entity, readonly Field[]>();
      const items = (field.args.get(ARGUMENT)?.items() ?? []).map((item): ResponseNode => {
        const { entity, root } = rowOf(entities, field, item, selected);
        return { kind: 'root', index: addRoot(entity.source, field, root) };
      });
      return { kind: 'list', items };
    },
  };
  return {
    name: ENTITIES_FIELD,
    description: null,
    type: listTypeRef(
      typeRef(union.name, () => union),
      true,
    ),
    args: new Map([[ARGUMENT, argument]]),
    meaning,
  };
}

/** Returns the row of a representation. Key values stay references, so that a plan serves other rows too. */
function rowOf(
  entities: ReadonlyMap<string, Entity>,
  field: CollectedField,
  item: InputValue,
  selected: Map<Entity, readonly Field[]>,
): { readonly entity: Entity; readonly root: (alias: string) => SelectRoot } {
  const values = valuesOf(item);
  const typeName = values.get(TYPENAME)?.json();
  if (typeof typeName !== 'string') throw invalid('__typename key not found', item.path);
  const entity = entities.get(typeName);
  if (entity === undefined) {
    throw invalid(`${typeName} is not found in selection set or federation is not enabled for the type`, item.path);
  }
  const { table, key } = entity;
  const conditions = key.map((column) => {
    const keyInput = values.get(column.name);
    if (keyInput === undefined) throw invalid(`cannot find ${column.name} in _Any type`, item.path);
    const type = column.place.input(true);
    const value = keyInput.as(type);
    if (value.isNull()) throw unexpectedNull(type, value.path);
    return keyCondition(column, value);
  });
  const fields = selected.get(entity) ?? table.rows().fields(field);
  selected.set(entity, fields);
  const rows = { where: and(table.access.filter, ...conditions), distinctOn: [], orderBy: [], limit: null, offset: null };
  return { entity, root: (alias) => ({ alias, query: { kind: 'rows', shape: 'single', from: table.relation, rows, fields } }) };
}

/** Returns the keys of a representation, as inputs of any type. */
function valuesOf(item: InputValue): ReadonlyMap<string, InputValue> {
  try {
    const entries = item.as(typeRef(ANY.name, () => REPRESENTATION, true)).entries();
    return new Map(entries.map(({ field, input }) => [field.name, input]));
  } catch (error) {
    if (!(error instanceof SvcError) || error.path !== item.path) throw error;
    throw invalid('representations is expecting a list of objects only', item.path);
  }
}

/** Accepts any field: a representation may contain more than the key. */
const REPRESENTATION: InputObjectType = {
  kind: 'input-object',
  name: ANY.name,
  description: null,
  fields: () => {
    const fields = new Map<string, InputField>();
    const typeName: InputField = { name: TYPENAME, description: null, type: builtin(STRING_SCALAR) };
    fields.get = (name) => (name === TYPENAME ? typeName : { name, description: null, type: typeRef(PART.name, () => PART) });
    return fields;
  },
};
