import type { Json } from '../../model/json.ts';
import type { ChangeKind } from '../../model/metadata-history.ts';
import { JsonDifference } from '../../parts/json-difference.tsx';

const MARKS: Readonly<Record<ChangeKind, string>> = { added: '+', removed: '−', changed: '~' };

/** Name of a changed object, with the kind of the change. */
export function ChangedObject({ kind, label }: { readonly kind: ChangeKind; readonly label: string }) {
  return (
    <>
      <span class={`badge ${kind === 'added' ? 'badge-ok' : kind === 'removed' ? 'badge-danger' : 'badge-accent'}`}>
        {MARKS[kind]} {kind}
      </span>{' '}
      {label}
    </>
  );
}

/** Folded line difference of an object. */
export function FoldedDifference({ label, before, after }: { readonly label: string; readonly before?: Json; readonly after?: Json }) {
  return (
    <details>
      <summary class="muted small">Show</summary>
      <JsonDifference name={`Changed lines of ${label}`} before={before} after={after} />
    </details>
  );
}
