import type { PlanNode } from '../../model/plan-tree.ts';
import { FullScanBadge, PlanBar } from '../../parts/plan-marks.tsx';

/** Plan of a statement: each node with its part of the cost or time, and the nodes that it reads from below it. */
export function Plan({ node }: { readonly node: PlanNode }) {
  return (
    <section class="card plan-tree" aria-label="Plan">
      <ul>
        <Node node={node} />
      </ul>
    </section>
  );
}

function Node({ node: { title, of, share, isFullScan, facts, children } }: { readonly node: PlanNode }) {
  return (
    <li>
      <details>
        <summary>
          {share !== undefined && (
            <>
              <PlanBar share={share} />
              <span class="muted number">{Math.round(share * 100)} %</span>
            </>
          )}
          <strong>{title}</strong> {of !== undefined && <code>{of}</code>}
          {isFullScan && <FullScanBadge />}
          <span class="muted small number">{rowsOf(facts)}</span>
        </summary>
        <dl class="facts small">
          {facts.map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd class="mono break">{value}</dd>
            </>
          ))}
        </dl>
      </details>
      {children.length > 0 && (
        <ul>
          {children.map((child, index) => (
            <Node key={index} node={child} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** Number of rows of a node: estimated, and found if it was run. */
function rowsOf(facts: PlanNode['facts']): string {
  const value = (name: string): string | undefined => {
    const text = facts.find(([each]) => each === name)?.[1];
    return text === undefined ? undefined : String(Math.round(Number(text)));
  };
  const estimated = value('Plan Rows') ?? value('rows');
  const found = value('Actual Rows') ?? value('r_rows');
  if (estimated === undefined) return '';
  return found === undefined ? `${estimated} rows expected` : `${found} rows, ${estimated} expected`;
}
