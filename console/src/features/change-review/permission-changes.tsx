import { type Json, printJson } from '../../model/json.ts';
import { isWiderRows, type PermissionChange, type PermissionLine } from '../../model/permission-change.ts';
import type { Reach } from '../../model/filter-reach.ts';
import { Icon } from '../../parts/icon.tsx';
import { MoreList } from '../../parts/more-list.tsx';

/** Permissions shown at first. */
const MAX_SHOWN = 30;
/** Maximum characters of a value on one line. */
const MAX_LINE_LENGTH = 100;
const BADGES: Readonly<Record<Reach, string>> = { wider: 'badge-danger', narrower: 'badge-ok', changed: 'badge-accent', same: '' };

/** Old and new values of each changed permission. Rules that let more rows through come first. */
export function PermissionChanges({ changes }: { readonly changes: readonly PermissionChange[] }) {
  if (changes.length === 0) return null;
  const wider = changes.flatMap(({ title, lines }) => lines.filter(isWiderRows).map(({ key }) => ({ title, key })));
  return (
    <section class="stack-tight" aria-label="Changed permissions">
      {wider.length > 0 && (
        <div class="banner banner-danger" role="alert">
          <Icon name="warn" />
          <ul class="stack-tight">
            <MoreList
              items={wider}
              first={MAX_SHOWN}
              what="permissions"
              item={({ title, key }) => (
                <li key={title + key}>
                  <strong>{key === 'filter' ? 'Wider row filter' : 'Wider row check'}:</strong> {title} lets the same rows through as before
                  and possibly more.
                </li>
              )}
            />
          </ul>
        </div>
      )}
      <MoreList
        items={changes}
        first={MAX_SHOWN}
        what="permissions"
        item={({ title, kind, lines }) => (
          <details key={title} open={changes.length < 3}>
            <summary>
              <strong>{title}</strong> <span class="muted small">{kind === 'dropped' ? 'deleted' : kind}</span>
            </summary>
            <dl class="stack-tight">
              {lines.map((line) => (
                <Line key={line.key} line={line} kind={kind} />
              ))}
            </dl>
          </details>
        )}
      />
    </section>
  );
}

function Line({ line: { key, before, after, reach }, kind }: { readonly line: PermissionLine; readonly kind: PermissionChange['kind'] }) {
  return (
    <div>
      <dt>
        <code>{key}</code> {kind === 'changed' && <span class={`badge ${BADGES[reach]}`}>{reach === 'same' ? 'unchanged' : reach}</span>}
      </dt>
      <dd>
        <section class="diff" tabIndex={0} aria-label={`Change of ${key}`}>
          {reach === 'same' ? (
            <Value sign=" " json={after} />
          ) : (
            <>
              <Value sign="−" look="minus" json={before} />
              <Value sign="+" look="plus" json={after} />
            </>
          )}
        </section>
      </dd>
    </div>
  );
}

function Value({ sign, look, json }: { readonly sign: string; readonly look?: string; readonly json: Json | undefined }) {
  if (json === undefined) return <div class={look}>{sign} none</div>;
  const short = printJson(json);
  const lines = short.length <= MAX_LINE_LENGTH ? [short] : printJson(json, 2).split('\n');
  return (
    <>
      {lines.map((line, index) => (
        <div key={index} class={look}>
          {sign} {line}
        </div>
      ))}
    </>
  );
}
