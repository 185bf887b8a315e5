/** Data changes that a role must not notice. */
import type { Choices } from './choices.ts';
import { makeRow, someCell } from './make-world.ts';
import { accessOf, type Place, read, relatedRows, type Scene, visibleRows } from './seen.ts';
import type { Data, Row, ScalarComputed, Session, Table, World } from './world.ts';

/**
 * All that the role may see: its rows, their cells, and which of them are related. Relationships
 * are granted with the tables at both ends, regardless of their columns.
 */
export function view(world: World, data: Data, role: string, session: Session): string {
  const scene: Scene = { world, data, session, visible: new Map() };
  const seen = world.tables.map((table) => {
    const access = accessOf(world, role, table.name);
    if (access === null) return null;
    const names = [
      ...table.relationships.map(({ name, target }) => ({ name, target })),
      ...table.computed.flatMap((each) => (each.result === 'table' ? [{ name: each.name, target: each.target }] : [])),
    ].filter(({ target }) => accessOf(world, role, target) !== null);
    return visibleRows(scene, role, table.name).map((row) => {
      const place: Place = { scene, table, row, role, root: row };
      const cells = access.columns.map((column) => read(place, { column }));
      const computed = table.computed.filter(
        (each): each is ScalarComputed => access.computed.includes(each.name) && each.result === 'scalar',
      );
      const values = computed.map(({ name }) => read(place, { computed: name }));
      const related = names.map(({ name }) => relatedRows(place, name).rows.map((other) => other['id']));
      // The function of the table reads a cell of each row, whether or not the role may read it.
      const searched = table.search === null ? null : row[table.search.column];
      return [row['id'], cells, values, related, searched];
    });
  });
  return JSON.stringify(seen);
}

/** Changes that each leave the visible data of the role unchanged. */
export function editUnseen(choices: Choices, world: World, role: string, session: Session, attempts: number): Data {
  const before = view(world, world.data, role, session);
  const tables = world.tables.filter((table) => table.view === null);
  let data = world.data;
  for (let i = 0; i < attempts; i++) {
    const table = choices.pick(tables);
    const rows = editRows(choices, table, data.get(table.name) ?? []);
    const changed = new Map(data).set(table.name, rows);
    if (view(world, changed, role, session) === before) data = changed;
  }
  return data;
}

function editRows(choices: Choices, table: Table, rows: readonly Row[]): readonly Row[] {
  const ids = (): number => 9;
  const kind = rows.length === 0 ? 3 : choices.int(4);
  const at = choices.int(rows.length);
  if (kind === 0) return rows.filter((_, i) => i !== at);
  if (kind === 3) {
    const used = new Set(rows.map((row) => row['id']));
    const free = Array.from({ length: 30 }, (_, i) => i + 1).filter((id) => !used.has(id));
    return [...rows.slice(0, at), makeRow(choices, table, choices.pick(free), ids), ...rows.slice(at)];
  }
  const column = choices.pick(table.columns.filter(({ name }) => name !== 'id'));
  return rows.map((row, i) => (i === at ? { ...row, [column.name]: someCell(choices, column, ids) } : row));
}
