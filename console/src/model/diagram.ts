/** Layout of a schema diagram: boxes of tables and the lines between them. Pure, and linear in the number of tables and lines. */

export interface DiagramColumn {
  readonly name: string;
  readonly type: string;
  readonly isInPrimaryKey: boolean;
  readonly isNullable: boolean;
}

export interface DiagramTable {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly DiagramColumn[];
}

export interface DiagramEdge {
  readonly kind: 'foreign-key' | 'object' | 'array';
  /** Name of the constraint or relationship. */
  readonly name: string;
  /** Index in `tables`. */
  readonly from: number;
  readonly to: number;
  readonly columns: readonly (readonly [from: string, to: string])[];
}

export interface DiagramModel {
  readonly tables: readonly DiagramTable[];
  readonly edges: readonly DiagramEdge[];
}

/** Rectangle in units of the diagram. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface DiagramBox extends Area {
  readonly id: string;
  readonly table: DiagramTable;
  /** Shown columns: all of them, or the keys and the first others. */
  readonly rows: readonly DiagramColumn[];
  readonly hidden: number;
}

export interface DiagramLine {
  /** Index in `boxes`. */
  readonly from: number;
  readonly to: number;
  /** Foreign key and relationships that the line stands for. */
  readonly names: readonly string[];
  /** True if there may be many rows at that end. */
  readonly isFromMany: boolean;
  readonly isToMany: boolean;
  /** Data of an SVG path. */
  readonly path: string;
  readonly bounds: Area;
}

export interface Diagram extends Area {
  readonly boxes: readonly DiagramBox[];
  readonly lines: readonly DiagramLine[];
}

export const BOX_WIDTH = 230;
export const HEAD_HEIGHT = 28;
export const ROW_HEIGHT = 18;
const PADDING = 6;
const MAX_ROWS = 14;
const [GAP_X, GAP_Y, COMPONENT_GAP] = [90, 26, 70];
/** Height up to which a layer is one column, in small groups. */
const LAYER_HEIGHT = 1600;
const SWEEPS = 4;
/** Aspect ratio of the whole diagram. */
const RATIO = 1.6;

/** Arranges tables. Connected tables are near each other, in layers by their distance from the table with the most connections. */
export function layoutDiagram(model: DiagramModel): Diagram {
  const connections = connectionsOf(model);
  const used = usedColumns(connections, model.tables.length);
  const sizes = model.tables.map((table, index) => sizeOf(table, used[index] ?? new Set()));
  const neighbours = model.tables.map((): number[] => []);
  for (const { from, to } of connections) {
    if (from === to) continue;
    neighbours[from]?.push(to);
    neighbours[to]?.push(from);
  }
  const places = new Map<number, { readonly x: number; readonly y: number }>();
  const components = componentsOf(neighbours).map((members) => arrange(members, neighbours, sizes));
  for (const { x, y, component } of pack(components)) {
    for (const [index, place] of component.places) places.set(index, { x: x + place.x, y: y + place.y });
  }
  const boxes = model.tables.map((table, index): DiagramBox => {
    const { rows, height } = sizes[index] as Size;
    const { x, y } = places.get(index) ?? { x: 0, y: 0 };
    const id = table.schema === '' ? table.name : `${table.schema}.${table.name}`;
    return { id, table, rows, hidden: table.columns.length - rows.length, x, y, width: BOX_WIDTH, height };
  });
  return { boxes, lines: connections.map((connection) => lineOf(connection, boxes)), ...boundsOf(boxes) };
}

/** Returns true if two areas have a point in common. */
export function meets(a: Area, b: Area): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;
}

/** Returns the part of a model with the tables that a test accepts. */
export function filterModel({ tables, edges }: DiagramModel, accepts: (table: DiagramTable, index: number) => boolean): DiagramModel {
  const indexes = new Map<number, number>();
  for (const [index, table] of tables.entries()) if (accepts(table, index)) indexes.set(index, indexes.size);
  return {
    tables: tables.filter((_, index) => indexes.has(index)),
    edges: edges.flatMap((edge) => {
      const [from, to] = [indexes.get(edge.from), indexes.get(edge.to)];
      return from === undefined || to === undefined ? [] : [{ ...edge, from, to }];
    }),
  };
}

interface Connection extends Pick<DiagramLine, 'from' | 'to' | 'names' | 'isFromMany' | 'isToMany'> {
  readonly columns: readonly (readonly [from: string, to: string])[];
}

/** One connection for a foreign key and the relationships that use it, in either direction. */
function connectionsOf({ edges }: DiagramModel): readonly Connection[] {
  const found = new Map<string, Connection>();
  const isKey = ({ kind }: DiagramEdge): boolean => kind === 'foreign-key';
  // A foreign key shows which end has many rows, so it comes before its relationships.
  for (const { kind, name, from, to, columns } of [...edges.filter(isKey), ...edges.filter((edge) => !isKey(edge))]) {
    const key = keyOf(from, to, columns);
    const reverse = keyOf(
      to,
      from,
      columns.map(([a, b]) => [b, a]),
    );
    const known = found.has(key) ? key : found.has(reverse) ? reverse : undefined;
    const former = known === undefined ? undefined : found.get(known);
    if (known !== undefined && former !== undefined) {
      if (!former.names.includes(name)) found.set(known, { ...former, names: [...former.names, name] });
    } else {
      found.set(key, { from, to, names: [name], columns, isFromMany: kind !== 'array', isToMany: kind === 'array' });
    }
  }
  return [...found.values()];
}

function keyOf(from: number, to: number, columns: Connection['columns']): string {
  return JSON.stringify([from, to, [...columns].sort(([a], [b]) => (a < b ? -1 : 1))]);
}

interface Size {
  readonly rows: readonly DiagramColumn[];
  readonly height: number;
}

/** @param used columns at the end of a connection */
function sizeOf({ columns }: DiagramTable, used: ReadonlySet<string>): Size {
  let rows = columns;
  if (columns.length > MAX_ROWS) {
    const isKey = ({ name, isInPrimaryKey }: DiagramColumn): boolean => isInPrimaryKey || used.has(name);
    const keys = columns.filter(isKey).slice(0, MAX_ROWS);
    const others = new Set(columns.filter((column) => !isKey(column)).slice(0, MAX_ROWS - keys.length));
    rows = columns.filter((column) => keys.includes(column) || others.has(column));
  }
  const lines = rows.length + (rows.length < columns.length ? 1 : 0);
  return { rows, height: HEAD_HEIGHT + lines * ROW_HEIGHT + PADDING };
}

/** Columns of each table at the end of a connection. */
function usedColumns(connections: readonly Connection[], count: number): readonly Set<string>[] {
  const used = Array.from({ length: count }, () => new Set<string>());
  for (const { from, to, columns } of connections) {
    for (const [own, other] of columns) {
      used[from]?.add(own);
      used[to]?.add(other);
    }
  }
  return used;
}

/** Groups of connected tables; tables without a connection are one group. */
function componentsOf(neighbours: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const seen = new Set<number>();
  const components: number[][] = [];
  const single: number[] = [];
  for (const [start, own] of neighbours.entries()) {
    if (seen.has(start)) continue;
    seen.add(start);
    if (own.length === 0) {
      single.push(start);
      continue;
    }
    const members = [start];
    for (const each of members) {
      for (const next of neighbours[each] ?? []) {
        if (seen.has(next)) continue;
        seen.add(next);
        members.push(next);
      }
    }
    components.push(members);
  }
  return single.length === 0 ? components : [...components, single];
}

interface Arranged {
  readonly width: number;
  readonly height: number;
  readonly places: ReadonlyMap<number, { readonly x: number; readonly y: number }>;
}

/** Arranges a group in columns. */
function arrange(members: readonly number[], neighbours: readonly (readonly number[])[], sizes: readonly Size[]): Arranged {
  const layers = layersOf(members, neighbours);
  order(layers, neighbours);
  const heightOf = (index: number): number => (sizes[index]?.height ?? 0) + GAP_Y;
  // A large group gets the shape of the whole diagram.
  const square = Math.sqrt((members.reduce((sum, index) => sum + heightOf(index), 0) * (BOX_WIDTH + GAP_X)) / RATIO);
  const most = layers.length === 1 ? square : Math.max(LAYER_HEIGHT, square);
  const columns = layers.flatMap((layer) => {
    const total = layer.reduce((sum, index) => sum + heightOf(index), 0);
    return split(layer, heightOf, layers.length === 1 ? most : Math.ceil(total / Math.ceil(total / most)));
  });
  const heights = columns.map((column) => column.reduce((sum, index) => sum + heightOf(index), 0) - GAP_Y);
  const height = Math.max(...heights);
  const places = new Map<number, { x: number; y: number }>();
  for (const [at, column] of columns.entries()) {
    let y = layers.length === 1 ? 0 : Math.round((height - (heights[at] ?? 0)) / 2);
    for (const index of column) {
      places.set(index, { x: at * (BOX_WIDTH + GAP_X), y });
      y += heightOf(index);
    }
  }
  return { width: columns.length * (BOX_WIDTH + GAP_X) - GAP_X, height, places };
}

/** Splits a layer into columns of a limited height. */
function split(layer: readonly number[], heightOf: (index: number) => number, limit: number): readonly (readonly number[])[] {
  const columns: number[][] = [[]];
  let height = 0;
  for (const index of layer) {
    if (height > 0 && height + heightOf(index) > limit + GAP_Y) {
      columns.push([]);
      height = 0;
    }
    columns.at(-1)?.push(index);
    height += heightOf(index);
  }
  return columns;
}

/** Layers by the distance from the table with the most connections. */
function layersOf(members: readonly number[], neighbours: readonly (readonly number[])[]): number[][] {
  const degree = (index: number): number => neighbours[index]?.length ?? 0;
  const centre = members.reduce((best, each) => (degree(each) > degree(best) ? each : best), members[0] ?? 0);
  if (degree(centre) === 0) return [[...members]];
  const layers: number[][] = [];
  const seen = new Set([centre]);
  for (let layer = [centre]; layer.length > 0; ) {
    layers.push(layer);
    const next: number[] = [];
    for (const each of layer) {
      for (const neighbour of neighbours[each] ?? []) {
        if (seen.has(neighbour)) continue;
        seen.add(neighbour);
        next.push(neighbour);
      }
    }
    layer = next;
  }
  return layers;
}

/** Orders the tables of each layer by the average place of their neighbours, so that fewer lines cross. */
function order(layers: number[][], neighbours: readonly (readonly number[])[]): void {
  const place = new Map<number, number>();
  const number = (layer: readonly number[]): void => {
    for (const [at, index] of layer.entries()) place.set(index, at / layer.length);
  };
  for (const layer of layers) number(layer);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const layer of sweep % 2 === 0 ? layers : layers.toReversed()) {
      const average = new Map(
        layer.map((index) => {
          const own = neighbours[index] ?? [];
          return [index, own.reduce((sum, each) => sum + (place.get(each) ?? 0), 0) / Math.max(1, own.length)];
        }),
      );
      layer.sort((a, b) => (average.get(a) ?? 0) - (average.get(b) ?? 0));
      number(layer);
    }
  }
}

interface Packed {
  readonly x: number;
  readonly y: number;
  readonly component: Arranged;
}

/** Puts groups in rows, the largest first. */
function pack(components: readonly Arranged[]): readonly Packed[] {
  const area = components.reduce((sum, { width, height }) => sum + (width + COMPONENT_GAP) * (height + COMPONENT_GAP), 0);
  const limit = Math.max(Math.sqrt(area * RATIO), ...components.map(({ width }) => width));
  const packed: Packed[] = [];
  let [x, y, rowHeight] = [0, 0, 0];
  for (const component of components.toSorted((a, b) => b.height - a.height)) {
    if (x > 0 && x + component.width > limit) {
      x = 0;
      y += rowHeight + COMPONENT_GAP;
      rowHeight = 0;
    }
    packed.push({ x, y, component });
    x += component.width + COMPONENT_GAP;
    rowHeight = Math.max(rowHeight, component.height);
  }
  return packed;
}

function boundsOf(boxes: readonly Area[]): Area {
  const width = boxes.reduce((most, box) => Math.max(most, box.x + box.width), 0);
  const height = boxes.reduce((most, box) => Math.max(most, box.y + box.height), 0);
  return { x: 0, y: 0, width, height };
}

const FOOT = 9;
const LOOP = 60;

function lineOf({ from, to, names, columns, isFromMany, isToMany }: Connection, boxes: readonly DiagramBox[]): DiagramLine {
  const [start, end] = [boxes[from] as DiagramBox, boxes[to] as DiagramBox];
  const [[own = '', other = ''] = []] = columns;
  const [y1, y2] = [start.y + rowAt(start, own), end.y + rowAt(end, other)];
  // Tables above each other are connected at their right sides.
  const side = end.x > start.x + start.width ? 1 : end.x + end.width < start.x ? -1 : 0;
  const x1 = side < 0 ? start.x : start.x + start.width;
  const x2 = side > 0 ? end.x : end.x + end.width;
  const [out1, out2] = [side < 0 ? -1 : 1, side > 0 ? -1 : 1];
  const bend = side === 0 ? LOOP : Math.min(Math.round(Math.abs(x2 - x1) / 2), 160);
  const foot = (x: number, y: number, out: number): string => `M${x} ${y - 6}L${x + out * FOOT} ${y}L${x} ${y + 6}`;
  const path = `M${x1} ${y1}C${x1 + out1 * bend} ${y1} ${x2 + out2 * bend} ${y2} ${x2} ${y2}`;
  const [left, right] = [Math.min(x1, x2) - LOOP, Math.max(x1, x2) + LOOP];
  const [top, bottom] = [Math.min(y1, y2) - FOOT, Math.max(y1, y2) + FOOT];
  return {
    ...{ from, to, names, isFromMany, isToMany },
    path: path + (isFromMany ? foot(x1, y1, out1) : '') + (isToMany ? foot(x2, y2, out2) : ''),
    bounds: { x: left, y: top, width: right - left, height: bottom - top },
  };
}

/** Height of the middle of a column's row within its box. */
function rowAt({ rows }: Pick<DiagramBox, 'rows'>, column: string): number {
  const at = rows.findIndex(({ name }) => name === column);
  return at < 0 ? HEAD_HEIGHT / 2 : HEAD_HEIGHT + (at + 0.5) * ROW_HEIGHT;
}
