import { Failure } from '../api/failure.ts';
import { Button } from '../parts/button.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { shownError } from '../parts/shown-error.ts';

const CHANGED = 'changed-since';

/** What is thrown where something was changed since one began to edit it. */
export function changedMeanwhile(what: string, how = 'Reset shows it as it is now.'): Failure {
  return new Failure(`Somebody else has changed ${what} since you began: ${how}`, { code: CHANGED });
}

/** Why something was not saved; what somebody else has changed meanwhile can be replaced. */
export function SaveFailure({ failure, onOver }: { readonly failure: Failure; onOver(): void }) {
  return (
    <ErrorBox error={shownError(failure)}>
      {failure.code === CHANGED && (
        <div class="row">
          <Button small onClick={onOver}>
            Put mine in its place
          </Button>
        </div>
      )}
    </ErrorBox>
  );
}
