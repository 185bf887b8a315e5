/**
 * Refuses changes of the database that the metadata does not allow, even with `cascade`: a new type of a column that permissions compare
 * with a value, a new overload of a tracked function, a tracked function that becomes volatile.
 */
import { nameKey, type QualifiedName, sameName } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { printName } from '../metadata/table-name.ts';
import type { SourceInfo } from '../schema-cache/schema-cache.ts';
import type { CatalogChanges } from './catalog-changes.ts';
import { typeDependents } from './type-dependents.ts';

/** @throws SvcError not-supported, dependency-error, already-exists */
export function refuseChanges(metadata: Metadata, source: SourceInfo, changes: CatalogChanges): void {
  refuseFunctions(metadata, source, changes);
  for (const { table, column } of changes.retyped) {
    const found = typeDependents(metadata, source, table, column);
    if (found.length === 0) continue;
    const message = `cannot change type of column "${column}" in table "${print(source, table)}" because of the following dependencies: ${found.join(', ')}`;
    throw new SvcError('dependency-error', message);
  }
  refuseTakenNames(metadata, source, changes);
}

function print(source: SourceInfo, name: QualifiedName): string {
  return printName(name, source.backend.defaultSchema);
}

function refuseFunctions(metadata: Metadata, source: SourceInfo, { overloaded, madeVolatile }: CatalogChanges): void {
  const tracked = metadata.sources.get(source.name)?.functions;
  const names = overloaded.filter((name) => tracked?.has(nameKey(name))).map((name) => print(source, name));
  if (names.length > 0) {
    throw new SvcError('not-supported', `the following tracked function(s) cannot be overloaded: ${names.sort().join(', ')}`);
  }
  for (const { name, exposedAs } of source.functions.values()) {
    if (exposedAs === 'query' && madeVolatile.some((each) => sameName(each, name))) {
      const message = `type of function "${print(source, name)}" is altered to "VOLATILE" which is not supported now`;
      throw new SvcError('not-supported', message);
    }
  }
  for (const table of source.tables.values()) {
    for (const field of table.computedFields.values()) {
      const { name } = field.function;
      const start = `"${print(source, name)}" associated with computed field`;
      const end = `"${field.name}" of table "${print(source, table.name)}" is being`;
      // The missing space is part of the interface.
      if (overloaded.some((each) => sameName(each, name))) throw new SvcError('not-supported', `The function ${start}${end} overloaded`);
      if (madeVolatile.some((each) => sameName(each, name)))
        throw new SvcError('not-supported', `The type of function ${start} ${end} altered to "VOLATILE"`);
    }
  }
}

/** Refuses new names that another object of the metadata has. */
function refuseTakenNames(metadata: Metadata, source: SourceInfo, { renames, tables }: CatalogChanges): void {
  const tracked = metadata.sources.get(source.name)?.tables;
  for (const [key, columns] of renames.columns) {
    const table = tracked?.get(key);
    if (table === undefined) continue;
    for (const [name, newName] of columns) {
      if (!table.objectRelationships.has(newName) && !table.arrayRelationships.has(newName) && !table.computedFields.has(newName)) continue;
      const kind = table.computedFields.has(newName) ? 'computed field' : 'relationship';
      const message = `cannot rename column "${name}" to "${newName}" in table "${print(source, table.table)}" as a ${kind} with the name already exists`;
      throw new SvcError('already-exists', message);
    }
  }
  const free = new Set([...renames.tables.keys(), ...tables.map(nameKey)]);
  for (const [key, name] of renames.tables) {
    const newKey = nameKey(name);
    if (tracked?.has(key) && tracked.has(newKey) && !free.has(newKey)) {
      throw new SvcError('already-tracked', `view/table already tracked: "${print(source, name)}"`);
    }
  }
}
