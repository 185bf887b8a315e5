import { useState } from 'preact/hooks';
import { type Failure, failureOf } from '../../api/failure.ts';
import { previewChanges, type SchemaDifference } from '../../api/preview.ts';
import { ADMIN } from '../../model/persona.ts';
import type { Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { shownError } from '../../parts/shown-error.ts';

const MAX_LINES = 12;

/** Introspects the server with the unsaved settings, and shows how the admin schema would change. */
export function TestCall({ step, refusal }: { readonly step: Step | undefined; readonly refusal: string | undefined }) {
  const [isCalling, setCalling] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const [difference, setDifference] = useState<SchemaDifference | null>();
  const call = async (): Promise<void> => {
    if (step === undefined) return;
    setCalling(true);
    setFailure(undefined);
    setDifference(undefined);
    try {
      const { roles } = await previewChanges([step], { roles: [ADMIN.role] });
      setDifference(roles[0] ?? null);
    } catch (error) {
      setFailure(failureOf(error));
    }
    setCalling(false);
  };
  return (
    <section class="stack-tight" aria-label="Test call">
      <div class="row">
        <Button
          icon="play"
          title="preview_changes"
          refusal={step === undefined ? (refusal ?? 'Fill in all fields') : (refusal ?? (isCalling ? 'Calling …' : undefined))}
          onClick={() => void call()}
        >
          Test call
        </Button>
        <span class="muted small">{isCalling ? 'Calling the server …' : 'Nothing is saved.'}</span>
      </div>
      <div role="status" class="stack-tight">
        {failure !== undefined && <ErrorBox error={shownError(failure)} />}
        {difference !== undefined && (
          <p class="row-tight">
            <span class="badge badge-ok">
              <Icon name="check" />
              server reachable
            </span>
            <span class="muted small">{difference === null ? 'The schema would not change.' : 'Changes of the admin schema:'}</span>
          </p>
        )}
        {difference !== undefined && difference !== null && <Difference difference={difference} />}
      </div>
    </section>
  );
}

function Difference({ difference: { added, removed, changed } }: { readonly difference: SchemaDifference }) {
  const lines = [
    ...added.map((line) => ['plus', '+', line] as const),
    ...removed.map((line) => ['minus', '−', line] as const),
    ...changed.map((line) => ['', '~', line] as const),
  ];
  return (
    <section class="diff" tabIndex={0} aria-label="Changes of the admin schema">
      {lines.slice(0, MAX_LINES).map(([look, sign, line]) => (
        <div key={sign + line} class={look}>
          {sign} {line}
        </div>
      ))}
      {lines.length > MAX_LINES && <div class="muted">and {lines.length - MAX_LINES} more</div>}
    </section>
  );
}
