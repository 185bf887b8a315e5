import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DiagramEdge, type DiagramModel, type DiagramTable, filterModel, layoutDiagram, meets } from './diagram.ts';
import { diagramSvg } from './diagram-svg.ts';

const tableOf = (name: string, columns: readonly string[] = ['id']): DiagramTable => ({
  schema: 'public',
  name,
  columns: columns.map((column) => ({ name: column, type: 'int4', isInPrimaryKey: column === 'id', isNullable: false })),
});
const edge = (from: number, to: number, more: Partial<DiagramEdge> = {}): DiagramEdge => ({
  kind: 'foreign-key',
  name: `key_${from}_${to}`,
  ...{ from, to, columns: [['id', 'id']] },
  ...more,
});
const models: fc.Arbitrary<DiagramModel> = fc.integer({ min: 1, max: 40 }).chain((count) =>
  fc.record({
    tables: fc.array(
      fc.array(fc.string(), { maxLength: 30 }).map((columns) => tableOf('t', columns)),
      { minLength: count, maxLength: count },
    ),
    edges: fc.array(
      fc.tuple(fc.nat(count - 1), fc.nat(count - 1)).map(([from, to]) => edge(from, to)),
      { maxLength: 60 },
    ),
  }),
);

describe('schema diagram', () => {
  it('places every table once, without overlaps and within the bounds', () => {
    fc.assert(
      fc.property(models, (model) => {
        const diagram = layoutDiagram(model);
        const { boxes } = diagram;
        expect(boxes).toHaveLength(model.tables.length);
        for (const [at, box] of boxes.entries()) {
          expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= diagram.width && box.y + box.height <= diagram.height).toBe(true);
          for (const other of boxes.slice(at + 1)) expect(meets(box, other)).toBe(false);
        }
      }),
    );
  });

  it('draws one line for a foreign key and its relationships, with the many end at the key', () => {
    const tables = [tableOf('author'), tableOf('book', ['id', 'author_id'])];
    const key = edge(1, 0, { name: 'fk', columns: [['author_id', 'id']] });
    const { lines } = layoutDiagram({
      tables,
      edges: [
        key,
        { ...key, kind: 'object', name: 'author' },
        { ...key, kind: 'array', name: 'books', from: 0, to: 1, columns: [['id', 'author_id']] },
        edge(0, 0, { name: 'self' }),
      ],
    });
    expect(lines).toMatchObject([
      { from: 1, to: 0, names: ['fk', 'author', 'books'], isFromMany: true, isToMany: false },
      { from: 0, to: 0, names: ['self'] },
    ]);
  });

  it('shows keys of a wide table first', () => {
    const columns = ['id', ...Array.from({ length: 40 }, (_, index) => `c${index}`), 'last'];
    const { boxes } = layoutDiagram({
      tables: [tableOf('wide', columns), tableOf('other')],
      edges: [edge(0, 1, { columns: [['last', 'id']] })],
    });
    expect(boxes[0]?.rows.map(({ name }) => name)).toEqual(['id', ...Array.from({ length: 12 }, (_, index) => `c${index}`), 'last']);
    expect(boxes[0]?.hidden).toBe(28);
  });

  it('filters tables together with their lines', () => {
    const model = { tables: ['a', 'b', 'c'].map((name) => tableOf(name)), edges: [edge(0, 1), edge(2, 1)] };
    expect(filterModel(model, ({ name }) => name !== 'a')).toEqual({
      tables: model.tables.slice(1),
      edges: [{ ...edge(2, 1), from: 1, to: 0 }],
    });
  });

  it('keeps the whole diagram of thousands of connected tables in a readable shape', () => {
    const tables = Array.from({ length: 1451 }, (_, index) => tableOf(`t${index}`, ['id', 'owner', 'title', 'note']));
    const edges = tables.flatMap((_, index) => (index === 0 ? [] : [edge(index, index % 7 === 0 ? 0 : Math.floor(index / 5))]));
    const { width, height } = layoutDiagram({ tables, edges });
    expect(width / height).toBeGreaterThan(0.5);
    expect(width / height).toBeLessThan(5);
  });

  it('writes hostile names into an SVG file as text', () => {
    const svg = diagramSvg(layoutDiagram({ tables: [tableOf('<script>alert("&")</script>\u0001', ['</text><x y="', 'ünï'])], edges: [] }));
    expect(svg).not.toMatch(/<script|<x /);
    expect(svg).not.toContain('\u0001');
    expect(svg).toContain('&lt;script&gt;');
    expect(svg).toContain('ünï');
  });
});
