/**
 * Dependents of objects that are about to be removed. Without `cascade` the removal is refused with a list of them; with `cascade` they are
 * removed as well, together with their own dependents. A permission that only lists removed columns or computed fields stays, without
 * those. Objects that belong to a table are removed with it silently. Reads the schema cache, not the database.
 */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { updateTable, withoutEntry, withoutFunction } from '../metadata/edit.ts';
import { namedColumns } from '../metadata/event-trigger.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { PermissionKind } from '../metadata/permission.ts';
import type { ArrayRelationship, ObjectRelationship } from '../metadata/relationship.ts';
import { printName } from '../metadata/table-name.ts';
import type { TableMetadata } from '../metadata/table.ts';
import { mentions } from './mentions.ts';
import { objectId } from './object-id.ts';
import { remoteDependents } from './remote-dependents.ts';
import type { SchemaCache, SourceInfo, TableInfo } from './schema-cache.ts';
import type { Dependent } from './dependent.ts';

/** An object to remove. */
export type DroppedObject =
  | { readonly kind: 'source'; readonly source: string }
  | { readonly kind: 'table'; readonly source: string; readonly table: QualifiedName }
  | {
      readonly kind: 'column' | 'constraint' | 'relationship' | 'computed-field';
      readonly source: string;
      readonly table: QualifiedName;
      readonly name: string;
    }
  | {
      readonly kind: 'permission';
      readonly source: string;
      readonly table: QualifiedName;
      readonly permission: PermissionKind;
      readonly role: string;
    }
  /** A tracked function. Only its permissions depend on it, which are removed with it. */
  | { readonly kind: 'function'; readonly source: string; readonly function: QualifiedName }
  /** The function in the database: computed fields use it whether it is tracked or not. */
  | { readonly kind: 'database-function'; readonly source: string; readonly function: QualifiedName };

/** Returns everything that depends on the objects or on something in the list, sorted by text. */
export function dependents(metadata: Metadata, cache: SchemaCache, dropped: readonly DroppedObject[]): readonly Dependent[] {
  const found: Dependent[] = [];
  const searches = new Map<string, Search>();
  const sources = new Set(dropped.flatMap((object) => (object.kind === 'source' ? [object.source] : [])));
  for (const name of new Set(dropped.map(({ source }) => source))) {
    const info = cache.sources.get(name);
    if (info === undefined || sources.has(name)) continue;
    const search = new Search(
      metadata,
      info,
      dropped.filter(({ source }) => source === name),
    );
    found.push(...search.run());
    searches.set(name, search);
  }
  // Only remote relationships refer to another source.
  found.push(
    ...remoteDependents(cache, {
      source: (name) => sources.has(name),
      table: (source, key) => searches.get(source)?.isTableGone(key) === true,
      field: (source, key, name) => searches.get(source)?.isFieldGone(key, name) === true,
      remoteSchema: () => false,
    }),
  );
  return found.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
}

/** Returns the dependents of a remote schema: relationships to it. Its own permissions are removed with it. */
export function dependentsOfRemoteSchema(cache: SchemaCache, remoteSchema: string): readonly Dependent[] {
  const none = (): boolean => false;
  const found = remoteDependents(cache, { source: none, table: none, field: none, remoteSchema: (name) => name === remoteSchema });
  return [...found].sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
}

/** Returns the message of a refused drop: `cannot drop due to …`. */
export function dropRefusal(found: readonly Dependent[]): string {
  return `cannot drop due to the following dependent objects: ${found.map(({ text }) => text).join(', ')}`;
}

class Search {
  readonly #source: SourceInfo;
  readonly #tables: ReadonlyMap<string, TableMetadata>;
  readonly #metadata: Metadata;
  /** Removed tables and functions by `nameKey`; removed fields (columns, relationships, computed fields) and constraints by table. */
  readonly #goneTables = new Set<string>();
  readonly #goneFields = new Map<string, Set<string>>();
  readonly #goneConstraints = new Map<string, Set<string>>();
  readonly #goneFunctions = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #found: Dependent[] = [];
  /** Permissions that list removed columns or computed fields; those that are removed themselves later are also in `#found`. */
  readonly #narrowed = new Map<string, Dependent>();

  constructor(metadata: Metadata, source: SourceInfo, dropped: readonly DroppedObject[]) {
    this.#metadata = metadata;
    this.#source = source;
    this.#tables = metadata.sources.get(source.name)?.tables ?? new Map();
    for (const object of dropped) this.#mark(object);
  }

  run(): readonly Dependent[] {
    for (let before = -1; before < this.#found.length; ) {
      before = this.#found.length;
      this.#pass();
    }
    return [...this.#found, ...[...this.#narrowed.values()].filter(({ objectId: narrowed }) => !this.#gone.has(narrowed))];
  }

  #mark(object: DroppedObject): void {
    const { name } = this.#source;
    switch (object.kind) {
      case 'source':
        return;
      case 'table':
        this.#goneTables.add(nameKey(object.table));
        return;
      case 'column':
        addTo(this.#goneFields, nameKey(object.table), object.name);
        return;
      case 'constraint':
        addTo(this.#goneConstraints, nameKey(object.table), object.name);
        return;
      case 'relationship':
        addTo(this.#goneFields, nameKey(object.table), object.name);
        this.#gone.add(objectId.relationship(name, object.table, object.name));
        return;
      case 'computed-field':
        addTo(this.#goneFields, nameKey(object.table), object.name);
        this.#gone.add(objectId.computedField(name, object.table, object.name));
        return;
      case 'permission':
        this.#gone.add(objectId.permission(name, object.table, object.permission, object.role));
        return;
      case 'function':
        this.#gone.add(objectId.function(name, object.function));
        return;
      case 'database-function':
        this.#goneFunctions.add(nameKey(object.function));
        this.#gone.add(objectId.function(name, object.function));
    }
  }

  #add(objectIdentity: string, text: string, remove: (metadata: Metadata) => Metadata, gone: DroppedObject): void {
    if (this.#gone.has(objectIdentity)) return;
    this.#mark(gone);
    this.#gone.add(objectIdentity);
    this.#found.push({ objectId: objectIdentity, text: this.#inSource(text), effect: 'dropped', remove });
  }

  #inSource(text: string): string {
    return `${text} in source "${this.#source.name}"`;
  }

  #pass(): void {
    for (const [key, info] of this.#source.tables) {
      const table = this.#tables.get(key);
      if (table === undefined || this.#goneTables.has(key)) continue;
      this.#relationships(key, info, table);
      this.#computedFields(key, info);
      this.#permissions(key, info, table);
      this.#eventTriggers(key, info, table);
    }
    this.#functions();
  }

  #relationships(key: string, info: TableInfo, table: TableMetadata): void {
    const source = this.#source.name;
    for (const relationship of info.relationships.values()) {
      const { name, join, target } = relationship;
      const definition = (table.objectRelationships.get(name) ?? table.arrayRelationships.get(name)) as
        | ObjectRelationship
        | ArrayRelationship
        | undefined;
      const targetKey = nameKey(target);
      const broken =
        this.#goneTables.has(targetKey) ||
        join.columns.some(({ local, remote }) => this.isFieldGone(key, local) || this.isFieldGone(targetKey, remote)) ||
        (definition !== undefined && this.#goneForeignKey(info, targetKey, definition));
      if (!broken) continue;
      this.#add(
        objectId.relationship(source, info.name, name),
        `relationship ${this.#print(info.name)}.${name}`,
        (metadata) =>
          updateTable(metadata, source, key, (entry) => ({
            ...entry,
            objectRelationships: withoutEntry(entry.objectRelationships, name),
            arrayRelationships: withoutEntry(entry.arrayRelationships, name),
          })),
        { kind: 'relationship', source, table: info.name, name },
      );
    }
  }

  /** Returns true if the relationship uses a removed foreign key. */
  #goneForeignKey(info: TableInfo, targetKey: string, { using }: ObjectRelationship | ArrayRelationship): boolean {
    if (using.kind === 'manual') return false;
    const owner = using.kind === 'own-columns' ? info : this.#source.tables.get(targetKey);
    const gone = owner === undefined ? undefined : this.#goneConstraints.get(nameKey(owner.name));
    if (owner === undefined || gone === undefined) return false;
    const { columns } = using;
    const over = owner.catalog.foreignKeys.filter(
      (foreignKey) => foreignKey.columns.length === columns.length && columns.every((column) => foreignKey.columns.includes(column)),
    );
    return over.some((foreignKey) => gone.has(foreignKey.name));
  }

  #computedFields(key: string, info: TableInfo): void {
    const source = this.#source.name;
    for (const { name, function: called, returns } of info.computedFields.values()) {
      const broken =
        this.#goneFunctions.has(nameKey(called.name)) || (returns.kind === 'table' && this.#goneTables.has(nameKey(returns.table)));
      if (!broken) continue;
      this.#add(
        objectId.computedField(source, info.name, name),
        `computed field ${this.#print(info.name)}.${name}`,
        (metadata) =>
          updateTable(metadata, source, key, (entry) => ({ ...entry, computedFields: withoutEntry(entry.computedFields, name) })),
        { kind: 'computed-field', source, table: info.name, name },
      );
    }
  }

  /** Finds triggers that list a removed column. */
  #eventTriggers(key: string, info: TableInfo, table: TableMetadata): void {
    const source = this.#source.name;
    for (const trigger of table.eventTriggers.values()) {
      const { name } = trigger;
      const identity = objectId.eventTrigger(source, name);
      if (this.#gone.has(identity) || !this.#anyGone(key, [...namedColumns(trigger)])) continue;
      this.#gone.add(identity);
      this.#found.push({
        objectId: identity,
        text: this.#inSource(`event-trigger ${this.#print(info.name)}.${name}`),
        effect: 'dropped',
        remove: (metadata) =>
          updateTable(metadata, source, key, (entry) => ({ ...entry, eventTriggers: withoutEntry(entry.eventTriggers, name) })),
      });
    }
  }

  #permissions(key: string, info: TableInfo, table: TableMetadata): void {
    const { selectPermissions, insertPermissions, updatePermissions, deletePermissions } = table;
    for (const { role, permission: p } of selectPermissions.values()) {
      const listed = p.columns === '*' ? p.computedFields : [...p.columns, ...p.computedFields];
      if (this.#uses(key, p.filter)) this.#permission(key, info, 'select', role);
      else if (this.#anyGone(key, listed)) this.#narrowPermission(key, info, 'select', role, true);
      else if (this.#anyGone(key, p.columns)) this.#narrowPermission(key, info, 'select', role, false);
    }
    for (const { role, permission: p } of insertPermissions.values()) {
      if (this.#anyGone(key, [...p.set.keys()]) || this.#uses(key, p.check)) this.#permission(key, info, 'insert', role);
      else if (this.#anyGone(key, p.columns ?? '*')) this.#narrowPermission(key, info, 'insert', role, (p.columns ?? '*') !== '*');
    }
    for (const { role, permission: p } of updatePermissions.values()) {
      const uses = this.#uses(key, p.filter) || (p.check !== null && this.#uses(key, p.check));
      if (this.#anyGone(key, [...p.set.keys()]) || uses) this.#permission(key, info, 'update', role);
      else if (this.#anyGone(key, p.columns)) this.#narrowPermission(key, info, 'update', role, p.columns !== '*');
    }
    for (const { role, permission: p } of deletePermissions.values())
      if (this.#uses(key, p.filter)) this.#permission(key, info, 'delete', role);
  }

  #permission(key: string, info: TableInfo, kind: PermissionKind, role: string): void {
    const source = this.#source.name;
    const property = `${kind}Permissions` as const;
    this.#add(
      objectId.permission(source, info.name, kind, role),
      `permission ${this.#print(info.name)}.${role}.${kind}`,
      (metadata) =>
        updateTable(metadata, source, key, (entry) => ({ ...entry, [property]: withoutEntry<string, unknown>(entry[property], role) })),
      { kind: 'permission', source, table: info.name, permission: kind, role },
    );
  }

  /**
   * Keeps the permission without the removed fields.
   * @param lists true if it lists one of them, false if it only includes them by `*`
   */
  #narrowPermission(key: string, info: TableInfo, kind: 'select' | 'insert' | 'update', role: string, lists: boolean): void {
    const identity = objectId.permission(this.#source.name, info.name, kind, role);
    const known = this.#narrowed.get(identity);
    if ((known !== undefined && (known.effect === 'changed' || !lists)) || this.#gone.has(identity)) return;
    // The set grows during the search.
    const gone = this.#goneFields.get(key) ?? new Set<string>();
    this.#narrowed.set(identity, {
      objectId: identity,
      text: this.#inSource(`permission ${this.#print(info.name)}.${role}.${kind}`),
      effect: lists ? 'changed' : 'unchanged',
      remove: (metadata) => updateTable(metadata, this.#source.name, key, (entry) => withoutFields(entry, kind, role, gone)),
    });
  }

  #functions(): void {
    const source = this.#source.name;
    for (const [key, { name, returns }] of this.#source.functions) {
      if (!this.#goneTables.has(nameKey(returns)) || this.#metadata.sources.get(source)?.functions.has(key) !== true) continue;
      this.#add(objectId.function(source, name), `function ${this.#print(name)}`, (metadata) => withoutFunction(metadata, source, key), {
        kind: 'function',
        source,
        function: name,
      });
    }
  }

  /** Valid after `run`. */
  isTableGone(key: string): boolean {
    return this.#goneTables.has(key);
  }

  /** Valid after `run`. @param field database name, or name of a relationship */
  isFieldGone(key: string, field: string): boolean {
    return this.#goneFields.get(key)?.has(field) === true;
  }

  /** `*` includes every column of the table. */
  #anyGone(key: string, fields: '*' | readonly string[]): boolean {
    const gone = this.#goneFields.get(key);
    if (gone === undefined) return false;
    if (fields !== '*') return fields.some((field) => gone.has(field));
    return this.#source.tables.get(key)?.catalog.columns.some(({ name }) => gone.has(name)) === true;
  }

  #uses(key: string, expression: Parameters<typeof mentions>[2]): boolean {
    if (this.#goneTables.size === 0 && this.#goneFields.size === 0) return false;
    return mentions(this.#source, key, expression, {
      table: (table) => this.#goneTables.has(table),
      field: (table, field) => this.isFieldGone(table, field),
    });
  }

  #print(name: QualifiedName): string {
    return printName(name, this.#source.backend.defaultSchema);
  }
}

/** Removes fields from the lists of a permission; `*` stays. */
function withoutFields(table: TableMetadata, kind: 'select' | 'insert' | 'update', role: string, gone: ReadonlySet<string>): TableMetadata {
  const property = `${kind}Permissions` as const;
  const entry = table[property].get(role);
  if (entry === undefined) return table;
  const remaining = (names: readonly string[]): readonly string[] => names.filter((name) => !gone.has(name));
  const { permission } = entry;
  const columns = permission.columns === undefined || permission.columns === '*' ? {} : { columns: remaining(permission.columns) };
  const computedFields = 'computedFields' in permission ? { computedFields: remaining(permission.computedFields) } : {};
  const narrowed = { ...entry, permission: { ...permission, ...columns, ...computedFields } };
  return { ...table, [property]: new Map<string, unknown>([...table[property], [role, narrowed]]) };
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([value]));
  else set.add(value);
}
