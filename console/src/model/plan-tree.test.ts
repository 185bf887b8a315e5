import { describe, expect, it } from 'vitest';
import type { Json } from './json.ts';
import { type PlanNode, planTree } from './plan-tree.ts';

function outline(node: PlanNode | undefined, depth = 0): string[] {
  if (node === undefined) return [];
  const { title, of, share, isFullScan, children } = node;
  const line = `${'  '.repeat(depth)}${title}${of === undefined ? '' : ` ${of}`}${share === undefined ? '' : ` ${share}`}${isFullScan ? ' full' : ''}`;
  return [line, ...children.flatMap((each) => outline(each, depth + 1))];
}

describe('the tree of a plan', () => {
  it('has nodes with their part of the cost', () => {
    const plan: Json = [
      {
        Plan: {
          'Node Type': 'Hash Join',
          'Total Cost': 40,
          'Plan Rows': 5,
          'Hash Cond': '(a.id = b.id)',
          Plans: [
            { 'Node Type': 'Seq Scan', 'Relation Name': 'album', 'Total Cost': 10, Filter: '(x > 1)' },
            { 'Node Type': 'Index Scan', 'Relation Name': 'artist', 'Index Name': 'artist_pkey', 'Total Cost': 20 },
          ],
        },
        'Planning Time': 0.5,
      },
    ];
    expect(outline(planTree(plan))).toEqual(['Hash Join 1', '  Seq Scan album 0.25 full', '  Index Scan artist, artist_pkey 0.5']);
    expect(planTree(plan)?.facts).toEqual([
      ['Total Cost', '40'],
      ['Plan Rows', '5'],
      ['Hash Cond', '(a.id = b.id)'],
      ['Planning Time', '0.5'],
    ]);
  });

  it('has the measured times of a plan that was run, over all loops', () => {
    const plan: Json = [
      {
        Plan: {
          'Node Type': 'Nested Loop',
          'Total Cost': 1,
          'Actual Total Time': 10,
          'Actual Loops': 1,
          Plans: [{ 'Node Type': 'Index Scan', 'Total Cost': 1, 'Actual Total Time': 0.5, 'Actual Loops': 10 }],
        },
      },
    ];
    expect(outline(planTree(plan))).toEqual(['Nested Loop 1', '  Index Scan 0.5']);
  });

  it('has the objects of a plan without typed nodes', () => {
    const plan: Json = {
      query_block: {
        select_id: 1,
        nested_loop: [
          { table: { table_name: 'album', access_type: 'ALL', rows: 100 } },
          { table: { table_name: 'artist', access_type: 'eq_ref' } },
        ],
      },
    };
    expect(outline(planTree(plan))).toEqual(['Plan', '  query block', '    table album full', '    table artist']);
    expect(planTree('nothing')).toBeUndefined();
  });
});
