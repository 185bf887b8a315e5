/** Names of a remote schema's types and fields in our schema. */
import { SvcError } from '../errors/svc-error.ts';
import type { RemoteSchemaCustomization, Renaming } from '../metadata/remote-schema.ts';
import { at, ROOT } from '../util/path.ts';
import { BUILT_IN_SCALARS, type RemoteModel } from './model.ts';

/** Maps the server's names to ours. */
export interface RemoteNames {
  /** The field that contains all root fields. */
  readonly namespace: string | null;
  type(name: string): string;
  field(type: string, name: string): string;
}

/** @throws SvcError if two types or fields would have the same name, or an interface and its implementation different ones */
export function remoteNames(model: RemoteModel, customization: RemoteSchemaCustomization): RemoteNames {
  const namespace = customization.rootFieldsNamespace ?? null;
  const roots = new Set([model.query, model.mutation, model.subscription].filter((name) => name !== null));
  const types = new Map<string, string>();
  for (const name of model.types.keys()) {
    const renamed = typeName(name, customization, roots, namespace);
    if (renamed !== name) types.set(name, renamed);
  }
  const fields = new Map<string, ReadonlyMap<string, string>>();
  for (const rule of customization.fieldNames) {
    const type = model.types.get(rule.parentType);
    if (type?.kind !== 'object' && type?.kind !== 'interface') continue;
    const renamed = [...type.fields.keys()].map((name): [string, string] => [
      name,
      rule.mapping.get(name) ?? (name.startsWith('__') ? name : `${rule.prefix ?? ''}${name}${rule.suffix ?? ''}`),
    ]);
    requireDistinct(
      renamed.map(([, name]) => name),
      (twice) =>
        `Field name mappings for ${type.kind === 'object' ? 'object' : 'interface'} type "${type.name}" are not distinct; the following fields appear more than once: ${twice}`,
    );
    fields.set(type.name, new Map(renamed));
  }
  requireDistinct(
    [...model.types.keys()].filter((name) => namespace !== null || !roots.has(name)).map((name) => types.get(name) ?? name),
    (twice) => `Type name mappings are not distinct; the following types appear more than once: ${twice}`,
  );
  const field = (type: string, name: string): string => fields.get(type)?.get(name) ?? name;
  checkInterfaces(model, field);
  return { namespace, type: (name) => types.get(name) ?? name, field };
}

/** A customization rule that matches nothing in the server's schema. */
export interface IdleRenaming {
  /** `parent_type` of a rule of `field_names`; `null` for `type_names`. */
  readonly parentType: string | null;
  /** Key of the rule's `mapping`; `null` for the whole rule. */
  readonly mapped: string | null;
  readonly complaint: string;
}

/** Returns the rules that rename nothing, e.g. those with a typo, or for a type that the server no longer has. */
export function idleRenamings(model: RemoteModel, { typeNames, fieldNames }: RemoteSchemaCustomization): readonly IdleRenaming[] {
  const idle: IdleRenaming[] = [];
  const add = (parentType: string | null, mapped: string | null, complaint: string): void => {
    idle.push({ parentType, mapped, complaint: `Remote schema customization: ${complaint}` });
  };
  for (const mapped of typeNames?.mapping.keys() ?? []) {
    if (!model.types.has(mapped) && !BUILT_IN_SCALARS.has(mapped)) add(null, mapped, `the server has no type "${mapped}" (in type_names)`);
  }
  for (const { parentType, mapping } of fieldNames) {
    const type = model.types.get(parentType);
    if (type?.kind !== 'object' && type?.kind !== 'interface') {
      add(parentType, null, `the server has no object or interface type "${parentType}" (in field_names)`);
      continue;
    }
    for (const mapped of mapping.keys()) {
      if (!type.fields.has(mapped)) add(parentType, mapped, `the server's type "${parentType}" has no field "${mapped}" (in field_names)`);
    }
  }
  return idle;
}

/** Removes the idle rules of a customization. @param isIdle returns true for a rule, or for a key of its mapping */
export function withoutRenamings(
  customization: RemoteSchemaCustomization,
  isIdle: (parentType: string | null, mapped: string | null) => boolean,
): RemoteSchemaCustomization {
  const withoutIdle = <T extends Renaming>(rule: T, parentType: string | null): T => {
    const mapping = new Map([...rule.mapping].filter(([mapped]) => !isIdle(parentType, mapped)));
    return mapping.size === rule.mapping.size ? rule : { ...rule, mapping };
  };
  const { typeNames, fieldNames } = customization;
  const types = typeNames === undefined ? undefined : withoutIdle(typeNames, null);
  const fields = fieldNames.filter(({ parentType }) => !isIdle(parentType, null)).map((rule) => withoutIdle(rule, rule.parentType));
  const isSame = types === typeNames && fields.length === fieldNames.length && fields.every((rule, i) => rule === fieldNames[i]);
  return isSame ? customization : { ...customization, typeNames: types, fieldNames: fields };
}

function typeName(
  name: string,
  { typeNames, rootFieldsNamespace }: RemoteSchemaCustomization,
  roots: ReadonlySet<string>,
  namespace: string | null,
): string {
  if (name.startsWith('__') || BUILT_IN_SCALARS.has(name)) return name;
  const isRoot = roots.has(name);
  // Without a namespace, the root types are not types of our schema.
  if (isRoot && namespace === null) return name;
  const mapped = typeNames?.mapping.get(name);
  if (mapped !== undefined) return mapped;
  if (isRoot) return `${rootFieldsNamespace ?? ''}${name}`;
  return `${typeNames?.prefix ?? ''}${name}${typeNames?.suffix ?? ''}`;
}

function requireDistinct(names: readonly string[], message: (twice: string) => string): void {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) twice.add(name);
    seen.add(name);
  }
  if (twice.size === 0) return;
  const printed = [...twice].map((name) => JSON.stringify(name)).join(', ');
  throw new SvcError('remote-schema-error', message(printed), { path: at(ROOT, 'args') });
}

function checkInterfaces(model: RemoteModel, field: RemoteNames['field']): void {
  for (const type of model.types.values()) {
    if (type.kind !== 'object' && type.kind !== 'interface') continue;
    for (const name of type.interfaces) {
      const of = model.types.get(name);
      for (const one of of?.kind === 'interface' ? of.fields.keys() : []) {
        const ofInterface = field(name, one);
        const own = field(type.name, one);
        if (own === ofInterface) continue;
        throw new SvcError(
          'remote-schema-error',
          `Remote schema customization inconsistency: field name mapping for field "${one}" of interface "${name}" is inconsistent with mapping for type "${type.name}". Interface field name maps to "${ofInterface}". Type field name maps to "${own}".`,
          { path: at(ROOT, 'args') },
        );
      }
    }
  }
}
