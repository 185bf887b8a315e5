import type { Failure } from '../api/failure.ts';
import { readOnlyRefusal } from '../api/settings.ts';
import { dependentsIn, sqlMessageOf } from '../api/sql-error.ts';
import { Button } from '../parts/button.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { shownError } from '../parts/shown-error.ts';

interface SqlFailureProps {
  readonly failure: Failure;
  /** Runs the SQL that failed again and drops what depends on it; undefined if that is not possible. */
  readonly onCascade: (() => void) | undefined;
}

/** Error of `run_sql`. If metadata depends on what the SQL drops, it lists the objects and asks whether to drop them as well. */
export function SqlFailure({ failure, onCascade }: SqlFailureProps) {
  const { code, path, internal } = failure;
  const dependents = dependentsIn(failure);
  return (
    <ErrorBox error={shownError({ code, path, internal, message: sqlMessageOf(failure) })}>
      {dependents.length > 0 && (
        <>
          <ul class="stack-tight">
            {dependents.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
          {onCascade !== undefined && (
            <div>
              <Button kind="danger" small refusal={readOnlyRefusal} onClick={onCascade}>
                Run with cascade
              </Button>
            </div>
          )}
        </>
      )}
    </ErrorBox>
  );
}
