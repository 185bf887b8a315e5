import { hrefOf } from '../../browser/place.ts';
import { isList, isObject, type Json } from '../../model/json.ts';
import { FullScanBadge, PlanBar } from '../../parts/plan-marks.tsx';

const COST = /cost=[\d.]+\.\.([\d.]+)/;

/** SQL and execution plan of each root field. Cost bars and full table scans stand out. */
export function Explained({ json }: { readonly json: Json }) {
  const fields = isList(json) ? json.filter(isObject) : isObject(json) ? [json] : [];
  return (
    <div class="stack">
      {fields.map((field, index) => {
        const plan = isList(field['plan']) ? field['plan'].map(String) : [];
        const whole = Number(COST.exec(plan[0] ?? '')?.[1] ?? 1) || 1;
        return (
          <section key={index} class="stack-tight">
            <div class="row">
              <h3 class="grow">{String(field['field'] ?? 'all')}</h3>
              <a
                class="button button-small"
                href={hrefOf(['sql'], { sql: String(field['sql'] ?? '') })}
                title="Opens the statement on the SQL page, which can run it and explain it with times"
              >
                Open in SQL
              </a>
            </div>
            <div class="plan" role="list" aria-label={`Plan of ${String(field['field'])}`}>
              {plan.map((line, at) => {
                const share = Math.min(1, Number(COST.exec(line)?.[1] ?? 0) / whole);
                const isFullScan = /Seq Scan/.test(line);
                return (
                  <div role="listitem" key={at} class="plan-line">
                    <span class="plan-share">
                      <PlanBar share={share} />
                    </span>
                    <code>{line}</code>
                    {isFullScan && <FullScanBadge />}
                  </div>
                );
              })}
            </div>
            <pre class="code-block" tabIndex={0}>
              {String(field['sql'] ?? '')}
            </pre>
          </section>
        );
      })}
    </div>
  );
}
