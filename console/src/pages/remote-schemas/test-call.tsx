import { useState } from 'preact/hooks';
import { type Failure, failureOf } from '../../api/failure.ts';
import { previewChanges, type SchemaDifference } from '../../api/preview.ts';
import { ADMIN } from '../../model/persona.ts';
import type { Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { shownError } from '../../parts/shown-error.ts';

const MOST_LINES = 12;

/** Asks a server for its schema as it would be saved, on a draft that the service throws away, and tells what it brings. */
export function TestCall({ step, refusal }: { readonly step: Step | undefined; readonly refusal: string | undefined }) {
  const [isAsking, setAsking] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const [found, setFound] = useState<SchemaDifference | null>();
  const call = async (): Promise<void> => {
    if (step === undefined) return;
    setAsking(true);
    setFailure(undefined);
    setFound(undefined);
    try {
      const { roles } = await previewChanges([step], { roles: [ADMIN.role] });
      setFound(roles[0] ?? null);
    } catch (error) {
      setFailure(failureOf(error));
    }
    setAsking(false);
  };
  return (
    <section class="stack-tight" aria-label="Test call">
      <div class="row">
        <Button
          icon="play"
          title="preview_changes"
          refusal={step === undefined ? (refusal ?? 'Something is missing') : (refusal ?? (isAsking ? 'Being asked' : undefined))}
          onClick={() => void call()}
        >
          Test call
        </Button>
        <span class="muted small">{isAsking ? 'The server is asked …' : 'Nothing is saved by it.'}</span>
      </div>
      <div role="status" class="stack-tight">
        {failure !== undefined && <ErrorBox error={shownError(failure)} />}
        {found !== undefined && (
          <p class="row-tight">
            <span class="badge badge-ok">
              <Icon name="check" />
              the server answers
            </span>
            <span class="muted small">
              {found === null ? 'The schema would stay as it is.' : 'What the schema of administrators would gain and lose:'}
            </span>
          </p>
        )}
        {found !== undefined && found !== null && <Difference difference={found} />}
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
    <section class="diff" tabIndex={0} aria-label="What the test call brings">
      {lines.slice(0, MOST_LINES).map(([look, sign, line]) => (
        <div key={sign + line} class={look}>
          {sign} {line}
        </div>
      ))}
      {lines.length > MOST_LINES && <div class="muted">and {lines.length - MOST_LINES} more</div>}
    </section>
  );
}
