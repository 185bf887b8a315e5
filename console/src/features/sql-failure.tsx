import type { Failure } from '../api/failure.ts';
import { readOnlyRefusal } from '../api/settings.ts';
import { dependentsIn, sqlMessageOf } from '../api/sql-error.ts';
import { Button } from '../parts/button.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { shownError } from '../parts/shown-error.ts';

/** Error of `run_sql`. If metadata depends on what the SQL drops, it lists the objects and asks whether to drop them as well. */
export function SqlFailure({ failure, onCascade }: { readonly failure: Failure; onCascade(): void }) {
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
          <div>
            <Button kind="danger" small refusal={readOnlyRefusal} onClick={onCascade}>
              Run with cascade
            </Button>
          </div>
        </>
      )}
    </ErrorBox>
  );
}
