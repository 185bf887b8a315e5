/** How a remote schema's types and fields are called in our schema. */
import { SvcError } from '../errors/svc-error.ts';
import type { RemoteSchemaCustomization } from '../metadata/remote-schema.ts';
import { at, ROOT } from '../util/path.ts';
import { BUILT_IN_SCALARS, type RemoteModel } from './model.ts';

/** Our names, by the server's own. */
export interface RemoteNames {
  /** The field that all root fields are under. */
  readonly namespace: string | null;
  type(name: string): string;
  field(type: string, name: string): string;
}

/** @throws SvcError where two things would have the same name, or an interface and what implements it different ones */
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

function typeName(
  name: string,
  { typeNames, rootFieldsNamespace }: RemoteSchemaCustomization,
  roots: ReadonlySet<string>,
  namespace: string | null,
): string {
  if (name.startsWith('__') || BUILT_IN_SCALARS.has(name)) return name;
  const isRoot = roots.has(name);
  // Without a namespace the root types are no types of our schema.
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
